import type { Issued } from './provider-issued.ts';
import type { WireName } from './provider-wire.ts';

// The bodies are read as what they claim to be; a flaw in their form is what is looked for.
type Loose = any;
interface Checked {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Loose;
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** What the provider would refuse a request for, in its own way; undefined when it would take it. */
export function checkRequest(wire: WireName, request: Checked, issued: Issued): string | undefined {
  try {
    CHECKS[wire](request, issued);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function must(holds: unknown, flaw: string): asserts holds {
  if (!holds) throw new Error(flaw);
}

function onlyFields(body: Loose, fields: readonly string[]): void {
  for (const name of Object.keys(body)) must(fields.includes(name), `${name}: Extra inputs are not permitted`);
}

const CHECKS: Readonly<Record<WireName, (request: Checked, issued: Issued) => void>> = {
  messages({ path, headers, body }, issued) {
    must(path === '/v1/messages', `no such path ${path}`);
    must(headers['x-api-key'] || headers['authorization'], 'x-api-key header is required');
    must(headers['anthropic-version'] === '2023-06-01', 'anthropic-version: header is required');
    onlyFields(body, ['model', 'max_tokens', 'system', 'tools', 'messages', 'thinking', 'output_config', 'stream']);
    must(Number.isInteger(body.max_tokens), 'max_tokens: Field required');
    const budget = body.thinking?.budget_tokens;
    must(
      budget === undefined || (budget >= 1024 && budget < body.max_tokens),
      '`max_tokens` must be greater than `thinking.budget_tokens`',
    );
    must(
      (JSON.stringify(body).match(/"cache_control"/g) ?? []).length <= 4,
      'A maximum of 4 blocks with cache_control may be provided',
    );
    checkTurns(
      body.messages,
      'assistant',
      block => (block.type === 'tool_use' ? block.id : undefined),
      block => (block.type === 'tool_result' ? block.tool_use_id : undefined),
    );
    for (const { role, content } of body.messages) {
      for (const block of content) {
        must(block.type !== 'text' || block.text.trim() !== '', 'messages: text content blocks must be non-empty');
        must(!/thinking/.test(block.type) || role === 'assistant', 'thinking blocks belong to the assistant');
        if (block.type === 'thinking') {
          must(typeof block.signature === 'string', 'thinking.signature: Field required');
          must(issued.signed.get(block.signature) === block.thinking, 'Invalid `signature` in `thinking` block');
          must(block.cache_control === undefined, 'thinking.cache_control: Extra inputs are not permitted');
        }
        if (block.type === 'redacted_thinking')
          must(issued.redacted.has(block.data), 'Invalid `data` in `redacted_thinking` block');
        if (block.type === 'tool_use')
          must(NAME.test(block.id) && NAME.test(block.name), 'tool_use.id: String should match pattern');
        must(
          block.type !== 'image' ||
            block.source.type === 'url' ||
            /^image\/(png|jpeg|gif|webp)$/.test(block.source.media_type),
          'media_type',
        );
      }
    }
    if (body.thinking) {
      const begin = body.messages.findLastIndex(
        (m: Loose) => m.role === 'user' && !m.content.some((b: Loose) => b.type === 'tool_result'),
      );
      const step = body.messages.slice(begin + 1).find((m: Loose) => m.role === 'assistant');
      must(
        step === undefined || /thinking/.test(step.content[0].type),
        'Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block',
      );
    }
    for (const tool of body.tools ?? [])
      must(NAME.test(tool.name) && tool.input_schema.type === 'object', 'tools: invalid');
  },

  responses({ path, headers, body }, issued) {
    must(path.endsWith('/responses'), `no such path ${path}`);
    must(headers['authorization'] || headers['api-key'], 'Missing bearer authentication in header');
    onlyFields(body, [
      'model',
      'input',
      'tools',
      'reasoning',
      'include',
      'max_output_tokens',
      'prompt_cache_key',
      'store',
      'stream',
    ]);
    const calls = new Map<string, boolean>();
    for (const [at, item] of body.input.entries()) {
      if (item.type === 'reasoning') {
        must(
          issued.items.get(item.id) === JSON.stringify(item),
          `Item '${item.id}' of type 'reasoning' could not be verified`,
        );
        const next = body.input[at + 1];
        must(
          next && (next.type === 'reasoning' || next.type === 'function_call' || next.role === 'assistant'),
          `Item '${item.id}' of type 'reasoning' was provided without its required following item.`,
        );
      } else if (item.type === 'function_call') {
        must(NAME.test(item.call_id) && NAME.test(item.name), `Invalid 'call_id' or 'name'`);
        must(typeof item.arguments === 'string' && JSON.parse(item.arguments), 'arguments');
        calls.set(item.call_id, false);
      } else if (item.type === 'function_call_output') {
        must(calls.has(item.call_id), `No tool call found for function call output with call_id ${item.call_id}.`);
        calls.set(item.call_id, true);
      } else {
        must(['system', 'developer', 'user', 'assistant'].includes(item.role), `Invalid role ${item.role}`);
        for (const [id, isAnswered] of calls) must(isAnswered, `No tool output found for function call ${id}.`);
      }
    }
    for (const [id, isAnswered] of calls) must(isAnswered, `No tool output found for function call ${id}.`);
    for (const tool of body.tools ?? []) must(tool.type === 'function' && NAME.test(tool.name), 'tools: invalid');
  },

  gemini({ path, headers, body }, issued) {
    must(/\/models\/[^/]+:streamGenerateContent\?alt=sse$/.test(path), `no such path ${path}`);
    must(headers['x-goog-api-key'] || headers['authorization'], 'API key not valid.');
    onlyFields(body, ['contents', 'systemInstruction', 'tools', 'generationConfig']);
    must(body.contents[0]?.role === 'user', 'Please ensure that the first content is of the user');
    for (const [at, { role, parts }] of body.contents.entries()) {
      must(
        role === (at % 2 === 0 ? 'user' : 'model'),
        'Please ensure that multiturn requests alternate between user and model.',
      );
      must(parts.length > 0, 'contents.parts must not be empty.');
      const calls = parts.filter((part: Loose) => part.functionCall);
      const answers = (body.contents[at + 1]?.parts ?? []).filter((part: Loose) => part.functionResponse);
      must(
        calls.length === answers.length || role === 'user',
        'the number of function response parts is equal to the number of function call parts',
      );
      must(
        calls.every((part: Loose, i: number) => part.functionCall.name === answers[i].functionResponse.name),
        'function response name',
      );
      if (/gemini-3/.test(path) && calls.length > 0)
        must(calls[0].thoughtSignature, 'Function call is missing a thought_signature in functionCall parts.');
      for (const part of parts) {
        const signature = part.thoughtSignature;
        if (signature === undefined || signature === 'skip_thought_signature_validator') continue;
        const { thoughtSignature: _, ...call } = part;
        must(
          issued.signed.get(signature) === (part.functionCall ? JSON.stringify(call.functionCall) : 'text'),
          'Thought signature is not valid.',
        );
      }
    }
    must(body.contents.at(-1).role === 'user', 'the last content is of the user');
    for (const { parameters } of body.tools?.[0]?.functionDeclarations ?? []) checkOpenApi(parameters);
  },

  converse({ path, headers, body }, issued) {
    must(/^\/model\/[^/]+\/converse-stream$/.test(path), `no such path ${path}`);
    must(/^(Bearer|AWS4-HMAC-SHA256 )/.test(String(headers['authorization'])), 'Missing Authentication Token');
    onlyFields(body, ['messages', 'system', 'toolConfig', 'inferenceConfig', 'additionalModelRequestFields']);
    checkTurns(
      body.messages,
      'assistant',
      block => block.toolUse?.toolUseId,
      block => block.toolResult?.toolUseId,
    );
    for (const block of body.messages.flatMap((message: Loose) => message.content)) {
      const thought = block.reasoningContent;
      if (thought?.reasoningText)
        must(issued.signed.get(thought.reasoningText.signature) === thought.reasoningText.text, 'Invalid `signature`');
      if (thought?.redactedContent) must(issued.redacted.has(thought.redactedContent), 'Invalid redacted content');
      must(block.text === undefined || block.text.trim() !== '', 'The text field in the ContentBlock object is blank.');
    }
  },

  chat({ path, headers, body }) {
    must(path.endsWith('/chat/completions'), `no such path ${path}`);
    must(headers['authorization'] || headers['api-key'], 'Missing bearer authentication in header');
    let open: string[] = [];
    for (const message of body.messages) {
      if (message.role === 'tool') {
        must(open.includes(message.tool_call_id), `tool_call_id ${message.tool_call_id} not found`);
        open = open.filter(id => id !== message.tool_call_id);
        continue;
      }
      must(open.length === 0, `tool_calls must be followed by tool messages: ${open.join(', ')}`);
      open = (message.tool_calls ?? []).map((call: Loose) => call.id);
    }
    must(open.length === 0, `tool_calls must be followed by tool messages: ${open.join(', ')}`);
  },
};

/** Two roles that alternate, the user first and last; every call answered in the next message, results before all else. */
function checkTurns(
  messages: Loose[],
  other: string,
  callOf: (block: Loose) => string | undefined,
  resultOf: (block: Loose) => string | undefined,
): void {
  must(messages.length % 2 === 1, 'messages: the conversation must end with a user message');
  let open: string[] = [];
  for (const [at, { role, content }] of messages.entries()) {
    must(role === (at % 2 === 0 ? 'user' : other), 'messages: roles must alternate between "user" and "assistant"');
    must(content.length > 0, `messages.${at}: content must not be empty`);
    const results = content.map(resultOf);
    const ids = results.filter((id: unknown) => id !== undefined);
    must(
      results.slice(0, ids.length).every((id: unknown) => id !== undefined),
      'tool_result blocks come first',
    );
    must(
      ids.every((id: string) => open.includes(id)),
      `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${ids.join(', ')}`,
    );
    must(
      open.every(id => ids.includes(id)),
      `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}`,
    );
    open = content.map(callOf).filter((id: unknown) => id !== undefined);
    must(new Set(open).size === open.length, '`tool_use` ids must be unique');
  }
}

const OPENAPI = [
  'type',
  'title',
  'description',
  'nullable',
  'enum',
  'format',
  'required',
  'properties',
  'items',
  'anyOf',
];
const OPENAPI_BOUNDS = ['minItems', 'maxItems', 'minLength', 'maxLength', 'minimum', 'maximum', 'pattern'];

function checkOpenApi(schema: Loose): void {
  if (schema === undefined) return;
  for (const name of Object.keys(schema)) {
    must(
      [...OPENAPI, ...OPENAPI_BOUNDS].includes(name),
      `Invalid JSON payload received. Unknown name "${name}" at 'parameters'`,
    );
  }
  must(schema.type === undefined || typeof schema.type === 'string', 'Proto field is not repeating: type');
  must(
    schema.type !== 'object' || Object.keys(schema.properties ?? {}).length > 0 || schema.properties === undefined,
    'properties: should be non-empty for OBJECT type',
  );
  must(schema.enum === undefined || schema.type === 'string', 'enum: only allowed for STRING type');
  for (const property of Object.values(schema.properties ?? {})) checkOpenApi(property);
  if (schema.items) checkOpenApi(schema.items);
  for (const part of schema.anyOf ?? []) checkOpenApi(part);
}
