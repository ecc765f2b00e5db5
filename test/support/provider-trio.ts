import { onTestFinished } from 'vitest';
import type { RemoteType } from '../../packages/server/src/config/provider-types.ts';
import { providerTypeOf } from '../../packages/server/src/config/provider-types.ts';
import { PLANTED_KEY } from './provider-model.ts';
import { Peer } from './peer.ts';
import type { WireAnswer, WireProvider } from './provider-wire.ts';
import { startWireProvider } from './provider-wire.ts';
import type { TestServer } from './server.ts';
import { startTestServer } from './server.ts';
import { closeConnections } from './wire.ts';
import { Workspace } from './workspace.ts';

/** The model of each type that a {@link Trio} offers. */
export const TRIO_MODELS: { readonly [type in RemoteType]?: string } = {
  anthropic: 'claude-sonnet-4-5',
  openai: 'gpt-5',
  google: 'gemini-3-flash',
};

/** A whole server with several providers, each of its own wire and strict in what it takes. */
export interface Trio {
  readonly server: TestServer;
  readonly providers: Readonly<Record<string, WireProvider>>;
  /** A client whose workspace has the file a.txt, and which asks for the model of this type. */
  peer(type: RemoteType): Peer;
}

/**
 * Starts one; it is closed with the test.
 *
 * @param answers what each provider says, in order
 */
export async function startTrio(answers: { readonly [type in RemoteType]?: readonly WireAnswer[] }): Promise<Trio> {
  const providers: Record<string, WireProvider> = {};
  const config: Record<string, unknown> = {};
  for (const [type, list] of Object.entries(answers) as [RemoteType, readonly WireAnswer[]][]) {
    const provider = await startWireProvider(providerTypeOf(type).wire, list);
    providers[type] = provider;
    config[type] = { type, baseUrl: `${provider.origin}/v1`, apiKey: PLANTED_KEY, models: [{ id: TRIO_MODELS[type] }] };
  }
  const server = await startTestServer({ config: { providers: config, limits: { providerAttempts: 1 } } });
  onTestFinished(async () => {
    closeConnections();
    await server.close();
    for (const provider of Object.values(providers)) await provider.close();
  });
  return {
    server,
    providers,
    peer(type) {
      const workspace = new Workspace();
      workspace.files.set('a.txt', 'the contents of a');
      return new Peer({ url: server.url, model: TRIO_MODELS[type] ?? '', workspace });
    },
  };
}
