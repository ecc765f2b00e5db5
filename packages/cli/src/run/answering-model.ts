import type { AgentClient, ModelItem, RunEvent } from '@tandem/client';
import { costOfUsage } from '../render/cost.ts';
import type { CostOf, Price } from '../render/cost.ts';

/** How long the end of a turn may wait for the list of models, which is asked for when the turn begins. */
const LIST_MS = 1_000;

/** The model that answers a turn: the one that was asked for, until the server says that another one stands in. */
export interface AnsweringModel {
  /** Takes each event of the turn. */
  note(event: RunEvent): void;
  /** Resolves once the server has listed its models, or does not do so soon. Never rejects. */
  readonly listed: Promise<void>;
  /** Its id in that list, else the name that is known of it; undefined when nothing is. */
  readonly id: string | undefined;
  /** Undefined also where more than one model answered, since nobody tells which used how much. */
  readonly costOf: CostOf;
}

/**
 * Follows which model answers a turn of a client, and what its server says that it costs.
 *
 * @param asked as it was asked for: an id or an alias, with or without parameters in brackets; undefined for the server's default
 */
export function followModel(client: AgentClient, asked: string | undefined): AnsweringModel {
  let items: readonly ModelItem[] | undefined;
  let name: string | undefined;
  let hasAnswered = false;
  let isMixed = false;
  const late = new Promise<undefined>(resolve => setTimeout(resolve, LIST_MS, undefined).unref());
  const listed = Promise.race([client.models().catch(() => undefined), late]).then(found => void (items = found));
  const item = () => items && (name === undefined ? itemOf(items, asked) : itemNamed(items, name));
  return {
    note(event) {
      if (event.type === 'tokens') hasAnswered = true;
      if (event.type !== 'model' && event.type !== 'retry') return;
      // a new attempt begins with the model that was asked for again
      const next = event.type === 'model' ? event.name : undefined;
      isMixed ||= hasAnswered && next !== name;
      name = next;
    },
    listed,
    get id() {
      return item()?.id ?? name ?? asked;
    },
    costOf: usage => (isMixed ? undefined : costOfUsage(usage, readPrice(item()))),
  };
}

function itemOf(items: readonly ModelItem[], model: string | undefined): ModelItem | undefined {
  const id = model?.replace(/\[[^[\]]*\]$/, '');
  return id === undefined ? items[0] : items.find(item => item.id === id || item.aliases?.includes(id));
}

/** The one item that is shown by this name; undefined where several are. */
function itemNamed(items: readonly ModelItem[], name: string): ModelItem | undefined {
  const found = items.filter(item => item.displayName === name);
  return found.length === 1 ? found[0] : undefined;
}

/** Any server may have written it, so it is believed only where it is what it should be. */
function readPrice(item: ModelItem | undefined): Price | undefined {
  const { input, output, cacheRead, cacheWrite } = item?.price ?? {};
  const { currency = 'USD', tiers = [] } = item?.price ?? {};
  if (!isAmount(input) || !isAmount(output) || currency !== 'USD') return undefined;
  const upTo = Array.isArray(tiers) ? tiers[0]?.above : undefined;
  return {
    input,
    output,
    ...(isAmount(cacheRead) && { cacheRead }),
    ...(isAmount(cacheWrite) && { cacheWrite }),
    ...(isAmount(upTo) && { upTo }),
  };
}

const isAmount = (value: unknown): value is number => typeof value === 'number' && value >= 0;
