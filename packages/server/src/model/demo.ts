import type { ModelMessage, ToolCallPart } from '@tandem/protocol/message';
import { textOfMessage, toolCallsOf, toolResultsOf } from '@tandem/protocol/message';
import type { DemoFinding } from './demo-finding.ts';
import { listingOf } from './demo-finding.ts';
import { writeDemoReport } from './demo-report.ts';
import { textOfResult } from './history.ts';
import type { Model, ModelEvent, ModelInfo, ModelRequest } from './port.ts';

interface PlannedCall {
  readonly name: string;
  readonly args: Record<string, unknown>;
}

/** One piece of streamed text: about a word, as models write. */
const DELTA_CHARACTERS = 12;

/** Files that say what a folder is about, best first; one of each line is read. */
const READABLE: readonly (readonly string[])[] = [
  ['README.md', 'README.markdown', 'README.rst', 'README.txt', 'README', 'readme.md', 'Readme.md'],
  [
    'package.json',
    'pyproject.toml',
    'Cargo.toml',
    'go.mod',
    'pom.xml',
    'build.gradle',
    'composer.json',
    'Gemfile',
    'Makefile',
  ],
];

/**
 * The built-in model for a first start without key and network: no language model at all. It looks at the folder in three
 * fixed steps (list, read, one harmless command) and reports. What it does next follows from the messages alone.
 */
export function createDemo(provider: string): Model {
  const info: ModelInfo = {
    key: `${provider}/demo`,
    provider,
    id: 'demo',
    name: 'Demo (no language model)',
    description: 'Looks at the folder in a few fixed steps and reports. For a first try without a key.',
    contextWindow: 200_000,
    maxOutput: 8_192,
    vision: false,
    aliases: [],
    parameters: [],
    price: { input: 0, output: 0 },
  };
  return { info, stream: answer };
}

async function* answer(request: ModelRequest): AsyncGenerator<ModelEvent> {
  const findings = findingsOf(request.messages);
  const calls = nextCalls(findings, new Set(request.tools.map(tool => tool.name)));
  const text = calls.length > 0 ? sayStep(findings, calls) : writeDemoReport(questionOf(request.messages), findings);
  for (const piece of text.match(new RegExp(`[^]{1,${DELTA_CHARACTERS}}`, 'gu')) ?? []) {
    await takeTurn(request.signal);
    yield { type: 'text', text: piece };
  }
  const planned = calls.map((call, at) => ({
    key: String(at),
    providerId: `demo_${findings.length + at}`,
    name: call.name,
    args: JSON.stringify(call.args),
  }));
  for (const { args, ...call } of planned) {
    await takeTurn(request.signal);
    yield { type: 'tool-start', ...call };
    yield { type: 'tool-args', key: call.key, text: args };
  }
  for (const call of planned) yield { type: 'tool-call', ...call };
  yield { type: 'finish', reason: calls.length > 0 ? 'tool-calls' : 'stop', usage: {} };
}

/** Lets everything else have its turn, as waiting for a network would, and ends when the call was aborted. */
async function takeTurn(signal: AbortSignal): Promise<void> {
  await new Promise<void>(resolve => setImmediate(resolve));
  signal.throwIfAborted();
}

/** The step after what was found so far: the first that was not tried and for which there is a tool. */
function nextCalls(findings: readonly DemoFinding[], offered: ReadonlySet<string>): PlannedCall[] {
  const isTried = (name: string) => findings.some(finding => finding.name === name);
  if (offered.has('Ls') && !isTried('Ls')) return [{ name: 'Ls', args: { path: '.' } }];
  const listing = listingOf(findings);
  if (offered.has('Read') && !isTried('Read')) {
    const calls = READABLE.map(names => names.find(name => listing?.has(name) ?? name === names[0]))
      .filter(name => name !== undefined)
      .map(name => ({ name: 'Read', args: { path: name } }));
    if (calls.length > 0) return calls;
  }
  if (offered.has('Shell') && !isTried('Shell')) {
    const isRepository = listing?.has('.git/') || listing?.has('.git') || listing?.has('.gitignore');
    const command = isRepository ? 'git log --oneline -5' : 'ls -la';
    return [
      { name: 'Shell', args: { command, description: isRepository ? 'Show the newest commits' : 'List the folder' } },
    ];
  }
  return [];
}

function sayStep(findings: readonly DemoFinding[], calls: readonly PlannedCall[]): string {
  if (findings.length === 0) return 'I am the demo model. I look at the folder first.\n';
  if (calls[0]?.name === 'Read') return 'Next I read what describes it.\n';
  return 'Last I run one harmless command.\n';
}

/** The newest message that a person wrote; notes of the server have the role of the user too. */
function newestQuestion(messages: readonly ModelMessage[]): number {
  return messages.findLastIndex(
    message => message.role === 'user' && message.providerOptions?.['tandem']?.['note'] === undefined,
  );
}

function questionOf(messages: readonly ModelMessage[]): string {
  const message = messages[newestQuestion(messages)];
  return message ? textOfMessage(message).trim() : '';
}

/** What this turn found so far, in the order of the calls. */
function findingsOf(messages: readonly ModelMessage[]): DemoFinding[] {
  const turn = messages.slice(newestQuestion(messages) + 1);
  const results = new Map(turn.flatMap(toolResultsOf).map(result => [result.toolCallId, result]));
  return turn.flatMap(toolCallsOf).map((call: ToolCallPart) => {
    const result = results.get(call.toolCallId);
    return {
      name: call.toolName,
      args: call.args,
      text: result ? textOfResult(result.result) : '',
      isError: result === undefined || result.isError === true,
    };
  });
}
