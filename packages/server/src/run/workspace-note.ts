import type { CursorRule, LsDirectoryTreeNode, RequestContext } from '@tandem/protocol/agent';

/** Bounds of what a note carries: a folder tree or a rule set above these is cut with a mark, it would crowd out the work. */
const LAYOUT_LINES = 200;
const RULE_CHARACTERS = 60_000;

/**
 * What the client told of its workspace, as a note for the model (§9). The same context gives the same text, so that a turn
 * whose context did not change adds nothing (R47, F67); the date is in it, the hour is not.
 */
export function workspaceNote(context: RequestContext, now: number): string {
  const sections = [
    section('environment', environmentLines(context, now)),
    ...context.gitRepos.map(repo =>
      section(`git path="${repo.path}"`, [
        ...(repo.branchName ? [`Branch: ${repo.branchName}`] : []),
        ...(repo.status ? [`Status when the turn began:\n${repo.status}`] : []),
      ]),
    ),
    ...context.projectLayouts.map(layout => section('project_layout', cut(layoutLines(layout), LAYOUT_LINES))),
    section('rules', ruleLines(context)),
    section('skills', skillLines(context)),
    ...context.mcpInstructions.map(({ serverName, serverIdentifier, instructions }) =>
      section(`mcp_instructions server="${serverIdentifier || serverName}"`, [instructions]),
    ),
    section('hooks', context.hooksAdditionalContext ? [context.hooksAdditionalContext] : []),
    section(
      'notes',
      [context.conversationNotesListing, context.sharedNotesListing].filter(text => text !== undefined && text !== ''),
    ),
    ...Object.entries(context.fileContents).map(([path, text]) => section(`file path="${path}"`, [text])),
  ];
  const body = sections.filter(text => text !== '').join('\n');
  return `The client describes the workspace as follows. This note is from the system, not from the user.\n<workspace>\n${body}\n</workspace>`;
}

function section(tag: string, lines: readonly (string | undefined)[]): string {
  if (lines.length === 0) return '';
  return `<${tag}>\n${lines.join('\n')}\n</${tag.split(' ')[0]}>`;
}

function environmentLines({ env }: RequestContext, now: number): string[] {
  if (!env) return [];
  const [first, ...others] = env.workspacePaths;
  const lines: [string, string | undefined][] = [
    ['Operating system', env.osVersion],
    ['Shell', env.shell],
    ['Workspace', first],
    ['Further workspaces', others.join(', ')],
    ['Working directory', env.processWorkingDirectory],
    ['Terminal files', env.terminalsFolder],
    ['Time zone', env.timeZone],
    ["Today's date", dateIn(env.timeZone, now)],
  ];
  return lines.flatMap(([label, value]) => (value ? [`${label}: ${value}`] : []));
}

/** The format of the zone that was asked for last: making one takes longer than the rest of a note. */
let lastZone: { readonly timeZone: string; readonly format: Intl.DateTimeFormat } | undefined;

/** The calendar date where the client is; in UTC when its zone has no name that we know. */
function dateIn(timeZone: string, now: number): string {
  try {
    if (lastZone?.timeZone !== timeZone) {
      lastZone = {
        timeZone,
        format: new Intl.DateTimeFormat('en-CA', { timeZone: timeZone || 'UTC', dateStyle: 'short' }),
      };
    }
    return lastZone.format.format(now);
  } catch {
    return new Date(now).toISOString().slice(0, 10);
  }
}

function ruleLines({ rules, nonFileRules, cloudRule, disabledTeamRules }: RequestContext): string[] {
  const off = new Set(disabledTeamRules);
  const lines = [...rules, ...nonFileRules].filter(rule => !off.has(rule.fullPath)).flatMap(ruleText);
  if (cloudRule) lines.push(cloudRule);
  return lines;
}

function ruleText(rule: CursorRule): string[] {
  const { fullPath, content, type } = rule;
  const kind = type?.type;
  if (kind?.case === 'agentFetched') {
    return [`<rule path="${fullPath}">Read this file when it fits the work: ${kind.value.description}</rule>`];
  }
  if (kind?.case === 'manuallyAttached') return [];
  const scope = kind?.case === 'fileGlobbed' ? ` for="${kind.value.globs.join(', ')}"` : '';
  const text =
    content.length > RULE_CHARACTERS
      ? `${content.slice(0, RULE_CHARACTERS)}\n[cut: ${content.length - RULE_CHARACTERS} characters more in the file]`
      : content;
  return [`<rule path="${fullPath}"${scope}>\n${text}\n</rule>`];
}

function skillLines({ agentSkills, skillOptions }: RequestContext): string[] {
  const offered = agentSkills.filter(skill => !skill.disableModelInvocation);
  const known = new Set(offered.map(skill => skill.fullPath));
  return [
    ...offered.map(({ fullPath, description }) => `${fullPath}: ${description}`),
    ...(skillOptions?.skillDescriptors ?? [])
      .filter(({ readmeFilePath }) => !known.has(readmeFilePath))
      .map(({ name, description }) => `${name}: ${description}`),
  ];
}

function layoutLines(node: LsDirectoryTreeNode, depth = 0): string[] {
  const indent = '  '.repeat(depth);
  const name = depth === 0 ? node.absPath : (node.absPath.split('/').at(-1) ?? node.absPath);
  return [
    `${indent}${name}/`,
    ...node.childrenDirs.flatMap(child => layoutLines(child, depth + 1)),
    ...node.childrenFiles.map(file => `${indent}  ${file.name}`),
  ];
}

function cut(lines: string[], most: number): string[] {
  return lines.length <= most ? lines : [...lines.slice(0, most), `[cut: ${lines.length - most} lines more]`];
}
