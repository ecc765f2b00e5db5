/** One thing that is wrong in a config file. */
export interface Problem {
  readonly path: readonly PropertyKey[];
  /** What was expected and what was found, without the path. */
  readonly says: string;
}

/** A path as a person writes it: `providers.local.models[0].id`. */
function writePath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`;
    else if (/^[\w-]+$/.test(String(key))) text += (text === '' ? '' : '.') + String(key);
    else text += `[${JSON.stringify(String(key))}]`;
  }
  return text === '' ? 'the file' : text;
}

/** All problems of a file as one message, each on its own line. */
export function writeProblems(source: string, problems: readonly Problem[]): string {
  const lines = problems.map(problem => `  ${writePath(problem.path)}: ${problem.says}`);
  return `The config ${source} cannot be used:\n${[...new Set(lines)].join('\n')}`;
}
