import { fault } from '@tandem/protocol';
import { blobKey } from '@tandem/protocol';
import type { SelectedContext, SelectedImage, UserMessage } from '@tandem/protocol/agent';
import type { MessagePart, ModelMessage } from '@tandem/protocol/message';
import type { RunBlobs } from '../conversation/blobs.ts';

const decoder = new TextDecoder();

/**
 * A user's message as the model reads it (§8): what was attached first, then the text, then images. Texts and images that came
 * as blobs are fetched.
 * @throws Fault `blob_missing` when the text itself cannot be had.
 */
export async function userModelMessage(message: UserMessage, blobs: RunBlobs): Promise<ModelMessage> {
  const text = await textOf(message, blobs);
  const attached = message.selectedContext ? attachedTexts(message.selectedContext) : [];
  const hooks = message.hookAdditionalContexts.map(({ content }) => `<hook_context>\n${content}\n</hook_context>`);
  const images: MessagePart[] = [];
  const notes: string[] = [];
  for (const image of message.selectedContext?.selectedImages ?? []) {
    const data = await imageData(image, blobs);
    if (data) images.push({ type: 'image', image: dataUri(image.mimeType || sniffImage(data), data) });
    else
      notes.push(
        `[An image (${image.path || image.uuid || 'without a name'}) was attached, but its data could not be had.]`,
      );
  }
  const whole = [...attached, ...hooks, ...notes, text].filter(piece => piece !== '').join('\n\n');
  const content: ModelMessage['content'] = images.length === 0 ? whole : [{ type: 'text', text: whole }, ...images];
  return message.messageId ? { role: 'user', content, id: message.messageId } : { role: 'user', content };
}

async function textOf(message: UserMessage, blobs: RunBlobs): Promise<string> {
  if (message.text !== '' || !message.textBlobId?.length) return message.text;
  const [found] = await blobs.getAll([message.textBlobId]);
  if (found!.inline && message.textBlobId.length === 32) {
    throw fault(
      'blob_missing',
      `The text of the user message is blob ${blobKey(message.textBlobId)}, which the client does not give. Send the text again.`,
    );
  }
  return decoder.decode(found!.data);
}

async function imageData({ dataOrBlobId }: SelectedImage, blobs: RunBlobs): Promise<Uint8Array | undefined> {
  switch (dataOrBlobId.case) {
    case 'data':
      return dataOrBlobId.value;
    case 'blobIdWithData':
      return dataOrBlobId.value.data;
    case 'blobId':
      return blobs.get(dataOrBlobId.value);
    default:
      return undefined;
  }
}

const dataUri = (mediaType: string, data: Uint8Array) =>
  `data:${mediaType};base64,${Buffer.from(data).toString('base64')}`;

/** The type of an image by its first bytes, for clients that do not say it. */
function sniffImage(data: Uint8Array): string {
  const head = Buffer.from(data.subarray(0, 12)).toString('latin1');
  if (head.startsWith('\x89PNG')) return 'image/png';
  if (head.startsWith('GIF8')) return 'image/gif';
  if (head.startsWith('RIFF') && head.endsWith('WEBP')) return 'image/webp';
  return 'image/jpeg';
}

/** What the user selected, each in a tag that names what it is. */
function attachedTexts(context: SelectedContext): string[] {
  const tagged = (tag: string, text: string, attributes: Record<string, string | undefined> = {}) => {
    const shown = Object.entries(attributes).flatMap(([name, value]) => (value ? [` ${name}="${value}"`] : []));
    return `<${tag}${shown.join('')}>\n${text}\n</${tag}>`;
  };
  return [
    ...context.files.map(file => tagged('attached_file', file.content, { path: file.relativePath || file.path })),
    ...context.codeSelections.map(selection =>
      tagged('attached_selection', selection.content, {
        path: selection.relativePath || selection.path,
        lines: selection.range
          ? `${selection.range.start?.line ?? '?'}-${selection.range.end?.line ?? '?'}`
          : undefined,
      }),
    ),
    ...context.folders.map(folder => tagged('attached_folder', folder.relativePath || folder.path)),
    ...context.terminals.map(terminal =>
      tagged('attached_terminal', terminal.content, { title: terminal.title, path: terminal.path }),
    ),
    ...context.terminalSelections.map(one =>
      tagged('attached_terminal', one.content, { title: one.title, path: one.path }),
    ),
    ...context.externalLinks.map(link => tagged('attached_link', link.pdfContent ?? link.url, { url: link.url })),
    ...context.cursorRules.flatMap(({ rule }) =>
      rule ? [tagged('attached_rule', rule.content, { path: rule.fullPath })] : [],
    ),
    ...context.cursorCommands.map(command => tagged('attached_command', command.content, { name: command.name })),
    ...(context.gitDiff ? [tagged('attached_diff', context.gitDiff.content)] : []),
    ...context.extraContext.map(text => tagged('attached_context', text)),
  ];
}
