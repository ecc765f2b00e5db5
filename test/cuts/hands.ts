import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ExecClientMessageSchema } from '@tandem/protocol/agent';
import { Workspace } from '../support/workspace.ts';

type Answer = MessageInitShape<typeof ExecClientMessageSchema>['message'];

/** The files, and how often each call ran. */
export interface HandsSnapshot {
  readonly files: ReadonlyMap<string, string>;
  readonly runs: ReadonlyMap<string, number>;
}

/**
 * The client's machine. Commands, MCP tools and files whose name ends in `.log` say how often that very call ran, as `(run 2)`,
 * so that a result that was acknowledged can be told from one of a second run.
 */
export class Hands extends Workspace {
  /** Bytes of files that are no text, by name. */
  readonly images = new Map<string, Uint8Array>();
  /** Commands that go to the background, with their shell ids. */
  readonly background = new Map<string, number>();
  readonly #runs = new Map<string, number>();

  snapshot(): HandsSnapshot {
    return { files: new Map(this.files), runs: new Map(this.#runs) };
  }

  restore({ files, runs }: HandsSnapshot): void {
    this.files.clear();
    for (const [name, text] of files) this.files.set(name, text);
    for (const [key, run] of runs) this.#runs.set(key, run);
  }

  /** Does one exec; `key` names the question, the same in every attempt. */
  perform(key: string, kind: string, args: any): { run: number; answers: Answer[] } {
    const run = (this.#runs.get(key) ?? 0) + 1;
    this.#runs.set(key, run);
    return { run, answers: this.#answers(kind, args, run) };
  }

  #answers(kind: string, args: any, run: number): Answer[] {
    const name: string = String(args.path ?? '').replace(`${this.folder}/`, '');
    const image = this.images.get(name);
    if (kind === 'readArgs' && image) {
      const value = {
        path: args.path,
        output: { case: 'data' as const, value: image },
        totalLines: 1,
        fileSize: BigInt(image.length),
      };
      return [{ case: 'readResult', value: { result: { case: 'success', value } } }];
    }
    const shellId = this.background.get(args.command);
    if (kind === 'shellStreamArgs' && shellId !== undefined) {
      return [
        shell({ case: 'start', value: {} }),
        shell({ case: 'stdout', value: { data: `listening (run ${run})\n` } }),
        shell({
          case: 'backgrounded',
          value: { shellId, command: args.command, workingDirectory: this.folder, pid: 77, msToWait: 30_000 },
        }),
      ];
    }
    // a file that was deleted is said to be deleted again, so that only what the server does makes a difference
    if (kind === 'deleteArgs' && run > 1 && !this.files.has(name)) this.files.set(name, '');
    const answers = this.answer(kind, args);
    if (kind === 'shellStreamArgs') answers.splice(-1, 0, shell({ case: 'stdout', value: { data: `(run ${run})\n` } }));
    for (const answer of answers) {
      const result = (answer as { value?: { result?: { case?: string; value?: any } } }).value?.result;
      if (result?.case !== 'success') continue;
      if (kind === 'mcpArgs') result.value.content.push({ content: { case: 'text', value: { text: `(run ${run})` } } });
      if (kind === 'readArgs' && name.endsWith('.log')) result.value.output.value += `(run ${run})\n`;
    }
    return answers;
  }
}

type ShellEvent = NonNullable<Extract<Answer, { case: 'shellStream' }>['value']['event']>;
const shell = (event: ShellEvent): Answer => ({ case: 'shellStream', value: { event } });
