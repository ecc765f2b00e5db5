import { commandForms, isPlainCommand } from './command-parts.ts';
import { globPattern } from './glob.ts';
import { pathMatcher } from './path-rule.ts';

/** What a rule can be about. */
export type RuleTool = 'read' | 'write' | 'delete' | 'shell' | 'fetch' | 'mcp' | 'mcp-server';

const TOOLS: ReadonlySet<string> = new Set<RuleTool>([
  'read',
  'write',
  'delete',
  'shell',
  'fetch',
  'mcp',
  'mcp-server',
]);

/** What a rule decides. Where several rules match, `deny` wins over `ask`, and `ask` over `allow`. */
export type RuleEffect = 'allow' | 'ask' | 'deny';

/**
 * One rule, written as `TOOL` or `TOOL: PATTERN`. A pattern is for `read`, `write` and `delete` a glob of paths, below the workspace unless
 * it begins with `/`, `~/` or `../`; for `shell` the beginning of a command, or with `=` in front the whole of it; for `fetch` a host, such as
 * `example.org` or `*.example.org:8080`; for `mcp` a `server/tool`; for `mcp-server` a name. `*` stands for anything within a part. In `deny` and
 * `ask` a folder covers all that is below it, and a command counts in whatever way it is spelled; `allow` is taken as it is written.
 */
export interface PermissionRule {
  effect: RuleEffect;
  tool: RuleTool;
  /** Absent: everything that the tool does. */
  pattern?: string;
  /** The rule as it was written. */
  text: string;
}

/** What is about to be done, in the terms of the rules. */
export interface RuleSubject {
  tool: RuleTool;
  /** A real absolute path, a command, a `host:port`, `server/tool` or a server's name. */
  text: string;
  /** The absolute path by which somebody named the real one; `deny` and `ask` hold for either. */
  named?: string | undefined;
}

/** Reads one rule. Throws with what is wrong about it. */
export function parseRule(effect: RuleEffect, text: string): PermissionRule {
  const [, tool = '', pattern] = /^\s*([\w-]+)\s*(?::([\s\S]*))?$/.exec(text) ?? [];
  if (!TOOLS.has(tool)) {
    throw new Error(
      `${JSON.stringify(text)} is no rule; a rule is TOOL or TOOL: PATTERN, with a tool of ${[...TOOLS].join(', ')}`,
    );
  }
  const trimmed = pattern?.trim();
  if (pattern !== undefined && trimmed === '')
    throw new Error(`${JSON.stringify(text)} has no pattern after the colon`);
  return { effect, tool: tool as RuleTool, text, ...(trimmed === undefined ? {} : { pattern: trimmed }) };
}

/** The effect of `rules` on one thing, with the rule that decided; undefined when none matches. `root` is the workspace. */
export function decideByRules(
  rules: readonly PermissionRule[],
  subject: RuleSubject,
  root: string,
): PermissionRule | undefined {
  for (const effect of ['deny', 'ask', 'allow'] as const) {
    const found = rules.find(rule => rule.effect === effect && matches(rule, subject, root));
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * The rule of `effects` against reading a real absolute path, ready to be asked about many paths; undefined when there is no such rule, so that
 * a search has nothing to ask.
 */
export function readFilter(
  rules: readonly PermissionRule[],
  effects: readonly RuleEffect[],
  root: string,
): ((path: string) => PermissionRule | undefined) | undefined {
  const matchers = rules
    .filter(rule => rule.tool === 'read' && effects.includes(rule.effect))
    .map(rule => ({ rule, matches: rule.pattern === undefined ? () => true : pathMatcher(rule.pattern, root, false) }));
  if (matchers.length === 0) return undefined;
  return path => matchers.find(({ matches }) => matches(path))?.rule;
}

function matches(rule: PermissionRule, subject: RuleSubject, root: string): boolean {
  if (rule.tool !== subject.tool) return false;
  if (rule.pattern === undefined) return true;
  switch (rule.tool) {
    case 'read':
    case 'write':
    case 'delete': {
      const matchesPath = pathMatcher(rule.pattern, root, rule.effect === 'allow');
      if (matchesPath(subject.text)) return true;
      return rule.effect !== 'allow' && subject.named !== undefined && matchesPath(subject.named);
    }
    case 'shell':
      return matchesCommand(rule.effect, rule.pattern, subject.text);
    case 'fetch':
      return matchesHost(rule.pattern.toLowerCase(), subject.text.toLowerCase());
    case 'mcp':
      return globPattern(rule.pattern.includes('/') ? rule.pattern : `${rule.pattern}/*`).test(subject.text);
    case 'mcp-server':
      return globPattern(rule.pattern).test(subject.text);
  }
}

/**
 * A refusal holds when any part of a command line begins as the pattern does. Leave is given only when the line has no parts, or is exactly
 * the pattern: `npm test` must not allow `npm test; rm -rf .`.
 */
function matchesCommand(effect: RuleEffect, pattern: string, command: string): boolean {
  const line = command.trim();
  const whole = pattern.startsWith('=') ? pattern.slice(1) : pattern;
  if (line === whole) return true;
  if (effect === 'allow') return !pattern.startsWith('=') && isPlainCommand(line) && beginning(pattern).test(line);
  const forms = commandForms(line);
  const wanted = whole.trim().replace(/\s+/g, ' ');
  if (forms.has(wanted)) return true;
  if (pattern.startsWith('=')) return false;
  const begins = beginning(wanted);
  return [...forms].some(form => begins.test(form));
}

function beginning(pattern: string): RegExp {
  return new RegExp(`^${pattern.split('*').map(escape).join('.*')}${pattern.endsWith('*') ? '' : '(\\s|$)'}`, 's');
}

function matchesHost(pattern: string, host: string): boolean {
  const name = host.replace(/:\d+$/, '');
  const wanted = /:\d+$/.test(pattern) ? host : name;
  if (pattern === '*') return true;
  return pattern.startsWith('*.') ? wanted.endsWith(pattern.slice(1)) : wanted === pattern;
}

function escape(text: string): string {
  return text.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
}
