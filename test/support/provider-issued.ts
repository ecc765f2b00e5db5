import type { WireEvent, WireName } from './provider-wire.ts';

type Json = Record<string, unknown>;

/** What fake providers gave out and must get back as it was: thinking by its signature, redacted data, reasoning items. */
export class Issued {
  /** Thinking text by signature; on the gemini wire the call, as JSON, or the text. */
  readonly signed = new Map<string, string>();
  readonly redacted = new Set<string>();
  /** Reasoning items as JSON, by id. */
  readonly items = new Map<string, string>();
  readonly #open = new Map<unknown, { thinking: string; signature: string; redacted: string }>();

  note(wire: WireName, event: WireEvent): void {
    if (wire === 'messages') this.#messages(event);
    else if (wire === 'responses') this.#responses(event);
    else if (wire === 'gemini') this.#gemini(event);
    else if (wire === 'converse') this.#converse(event);
  }

  #block(index: unknown) {
    const block = this.#open.get(index) ?? { thinking: '', signature: '', redacted: '' };
    this.#open.set(index, block);
    return block;
  }

  #close(index: unknown): void {
    const block = this.#open.get(index);
    this.#open.delete(index);
    if (block?.signature) this.signed.set(block.signature, block.thinking);
    if (block?.redacted) this.redacted.add(block.redacted);
  }

  #messages(event: Json): void {
    const start = event['content_block'] as Json | undefined;
    const delta = (event['delta'] ?? {}) as { thinking?: string; signature?: string };
    if (start?.['type'] === 'redacted_thinking') this.redacted.add(String(start['data']));
    if (event['type'] === 'content_block_delta') {
      const block = this.#block(event['index']);
      block.thinking += delta.thinking ?? '';
      block.signature += delta.signature ?? '';
    }
    if (event['type'] === 'content_block_stop') this.#close(event['index']);
  }

  #responses(event: Json): void {
    const item = event['item'] as Json | undefined;
    if (event['type'] !== 'response.output_item.done' || item?.['type'] !== 'reasoning') return;
    const { status: _, ...rest } = item;
    this.items.set(String(item['id']), JSON.stringify(rest));
  }

  #gemini(event: Json): void {
    const candidates = (event['candidates'] ?? []) as { content?: { parts?: Json[] } }[];
    for (const part of candidates.flatMap(({ content }) => content?.parts ?? [])) {
      const { thoughtSignature, functionCall } = part;
      if (typeof thoughtSignature === 'string') {
        this.signed.set(thoughtSignature, functionCall ? JSON.stringify(functionCall) : 'text');
      }
    }
  }

  #converse(event: Json): void {
    const delta = event['contentBlockDelta'] as Json | undefined;
    const content = (delta?.['delta'] as Json | undefined)?.['reasoningContent'] as
      | { text?: string; signature?: string; redactedContent?: string }
      | undefined;
    if (content) {
      const block = this.#block(delta?.['contentBlockIndex']);
      block.thinking += content.text ?? '';
      block.signature += content.signature ?? '';
      block.redacted += content.redactedContent ?? '';
    }
    const stop = event['contentBlockStop'] as Json | undefined;
    if (stop) this.#close(stop['contentBlockIndex']);
  }
}
