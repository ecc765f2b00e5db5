import type { Requirement } from './requirement.ts';

/** Providers behind the model port (product, R54 to R59). */
export const providers = [
  {
    id: 'product-provider-conformance',
    source: 'product',
    covers: 'server',
    says: 'Every wire of a provider passes one list: text, thinking, calls, ends, failures, images, repaired histories.',
  },
  {
    id: 'product-provider-usage',
    source: 'product',
    covers: 'server',
    says: 'Counts of every provider come in one form: cache reads and writes beside the input, thinking inside the output.',
  },
  {
    id: 'product-provider-presets',
    source: 'product',
    covers: 'server',
    says: 'Each provider type of the config is called over its wire, at its address, with its key in the header it wants.',
  },
  {
    id: 'product-provider-quirks',
    source: 'product',
    covers: 'server',
    says: 'What an endpoint wants otherwise than its wire stands in one table, each difference with a reason, and is sent so.',
  },
  {
    id: 'product-provider-switch',
    source: 'product',
    covers: 'server',
    says: 'A conversation goes from any provider to any other and back, with thinking and tools: every request is valid, and the history is whole.',
  },
  {
    id: 'product-provider-cache',
    source: 'product',
    covers: 'server',
    says: 'Each model call begins with the whole of the one before it, byte for byte, is marked or keyed for the cache as its provider wants, and the turn tells what the cache read and wrote.',
  },
  {
    id: 'product-provider-failures',
    source: 'product',
    covers: 'server',
    says: 'What a provider refuses or breaks off becomes one of our codes with its own words, its status, its request id and the wait it asks for, and without a secret.',
  },
  {
    id: 'product-provider-concurrency',
    source: 'product',
    covers: 'server',
    says: 'A provider gets at most as many calls at one moment as the config says; further ones wait in their order.',
  },
  {
    id: 'product-provider-breaker',
    source: 'product',
    covers: 'server',
    says: 'A provider that is broken ten times in a row is left alone for ten seconds, then tried by one call.',
  },
  {
    id: 'product-provider-proxy',
    source: 'product',
    covers: 'server',
    says: 'Providers are called through the proxy of the environment, those on this machine never.',
  },
  {
    id: 'product-provider-gateways',
    source: 'product',
    covers: 'server',
    says: 'What gateways leave out of an answer (the ids and indices of calls, the stream itself) makes no call two and loses no answer.',
  },
  {
    id: 'product-provider-others',
    source: 'product',
    covers: 'server',
    says: 'The wires of providers are understood as a mock that others wrote speaks them.',
  },
  {
    id: 'product-provider-fallback',
    source: 'product',
    covers: 'server',
    says: 'A model whose provider fails before its first word is stood in for by the models of its fallback, in order, announced by routed_model.',
  },
] as const satisfies readonly Requirement[];
