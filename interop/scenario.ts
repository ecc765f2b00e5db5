import type { AgentOptions, ModelListItem, RunResult, SDKAgent, SDKMessage } from '@cursor/sdk';
import type { Provider, ProviderOptions } from '../test/support/provider.ts';
import type { ServerProcess } from './server-process.ts';

/** What a user of the stock SDK saw of one run. */
export interface RunReport {
  readonly events: readonly SDKMessage[];
  readonly result?: RunResult;
  /** The message of what was thrown instead of a result. */
  readonly failure?: string;
}

/** What one client process has to say when it is done. */
export interface Report {
  readonly agentId?: string;
  readonly runs?: readonly RunReport[];
  readonly models?: readonly ModelListItem[];
}

/** What the client half of a scenario works with. It runs in the workspace, in a process of its own. */
export interface Stage {
  readonly workspace: string;
  /** The reports of the client processes before this one. */
  readonly earlier: readonly Report[];
  /** A local agent of the stock SDK in the workspace. */
  createAgent(local?: AgentOptions['local']): Promise<SDKAgent>;
  /** The agent of an earlier process, taken up again. */
  resumeAgent(agentId: string): Promise<SDKAgent>;
  listModels(): Promise<readonly ModelListItem[]>;
  /** Sends a prompt and follows its run to the end; `onEvent` sees every event and may cancel. */
  drive(
    agent: SDKAgent,
    prompt: string,
    onEvent?: (event: SDKMessage, cancel: () => Promise<void>) => void,
  ): Promise<RunReport>;
}

/** The client half of a scenario: what a user of the SDK would write. */
export type Act = (stage: Stage) => Promise<Report>;

/** What the other half sees while the client acts. */
export interface World {
  readonly workspace: string;
  readonly provider: Provider;
  readonly server: ServerProcess;
  /** Resolves with the first event of any run that fits, seen already or yet to come. */
  untilEvent(fits: (event: SDKMessage) => boolean): Promise<SDKMessage>;
}

/** What is left when the client processes have gone. */
export interface Witness extends World {
  readonly reports: readonly Report[];
  /** The runs of all reports in order. */
  readonly runs: readonly RunReport[];
}

/** One thing that a user of the stock SDK relies on. */
export interface Scenario {
  readonly name: string;
  readonly answers: ProviderOptions['answers'];
  /** Files of the workspace before it starts. */
  readonly files?: Readonly<Record<string, string>>;
  /** Over TLS, where the SDK speaks Run over HTTP/2 in place of RunSSE and BidiAppend. */
  readonly secure?: boolean;
  /** One client process each, one after the other, in the same workspace and with the same home. */
  readonly acts: readonly Act[];
  /** What happens beside the first client process. */
  readonly meanwhile?: (world: World) => Promise<void>;
  /** Throws when the promise was broken. */
  readonly check: (witness: Witness) => void | Promise<void>;
}
