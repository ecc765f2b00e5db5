import { create } from '@bufbuild/protobuf';
import type { JsonObject, MessageInitShape } from '@bufbuild/protobuf';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import { McpToolResultContentItemSchema } from '@tandem/protocol/agent';
import type { McpSuccessSchema, McpToolResultContentItem } from '@tandem/protocol/agent';

/** Longest text of one item, in characters; the head is kept. */
const TEXT_CAP = 1_000_000;

/** Longest image, in bytes; a longer one is told in words. */
const IMAGE_CAP = 8 * 1024 * 1024;

/** What a tool gave, in the terms of the protocol. What has no form there (sound, links, data) becomes a line of text. */
export function contentOf(result: CallToolResult): MessageInitShape<typeof McpSuccessSchema> {
  const structured = result.structuredContent as JsonObject | undefined;
  return {
    content: result.content.map(itemOf),
    isError: result.isError === true,
    ...(structured === undefined ? {} : { structuredContent: structured }),
  };
}

function itemOf(block: ContentBlock): McpToolResultContentItem {
  switch (block.type) {
    case 'text':
      return textItem(block.text);
    case 'image': {
      const data = decodeBase64(block.data);
      if (data === undefined) return textItem(`(an image of type ${block.mimeType} that is not valid base64)`);
      if (data.length > IMAGE_CAP)
        return textItem(`(an image of type ${block.mimeType} with ${data.length} bytes, too long to send)`);
      const value = { data, mimeType: block.mimeType };
      return create(McpToolResultContentItemSchema, { content: { case: 'image', value } });
    }
    case 'resource':
      return 'text' in block.resource
        ? textItem(block.resource.text)
        : textItem(`(the resource ${block.resource.uri} of type ${block.resource.mimeType ?? 'unknown'})`);
    case 'resource_link':
      return textItem(`${block.name}: ${block.uri}`);
    case 'audio':
      return textItem(`(sound of type ${block.mimeType})`);
    default:
      return textItem('(content of a kind that is not known here)');
  }
}

function textItem(text: string): McpToolResultContentItem {
  const cut =
    text.length <= TEXT_CAP
      ? text
      : `${text.slice(0, TEXT_CAP).toWellFormed()}\n(${text.length - TEXT_CAP} more characters were left out)`;
  return create(McpToolResultContentItemSchema, { content: { case: 'text', value: { text: cut } } });
}

/** Undefined for text that is no base64: Node itself would skip what it does not know. */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(text)) return undefined;
  return new Uint8Array(Buffer.from(text, 'base64'));
}
