/**
 * The modules that only a run needs: all of the tools, and the work of a turn. A server listens without them; the first run loads them, or
 * whoever has the time before.
 */
export async function loadRunParts() {
  const [{ offerTools }, { Turn }, { resumeAction }, { userMessageAction }] = await Promise.all([
    import('../tools/registry.ts'),
    import('./turn.ts'),
    import('./actions/resume.ts'),
    import('./actions/user-message.ts'),
  ]);
  return { offerTools, Turn, resumeAction, userMessageAction };
}
