import type { Model, ModelEvent, ModelInfo } from './port.ts';

/** A model whose adapter is loaded with its first call: a server listens the sooner the less it loads. */
export function lateModel(info: ModelInfo, load: () => Promise<Model>): Model {
  let loading: Promise<Model> | undefined;
  return {
    info,
    stream(request) {
      let events: AsyncIterator<ModelEvent> | undefined;
      const begin = async () => {
        loading ??= load();
        events = (await loading).stream(request)[Symbol.asyncIterator]();
        return events.next();
      };
      // handed through, not looped over: a step more for each event would be one for each event of every stream
      const iterator: AsyncIterator<ModelEvent> = {
        next: () => events?.next() ?? begin(),
        return: async () => (await events?.return?.()) ?? { done: true, value: undefined },
      };
      return { [Symbol.asyncIterator]: () => iterator };
    },
  };
}
