import type { DemoFinding } from './demo-finding.ts';
import { listingOf } from './demo-finding.ts';

/** Entries of the folder that the report names. */
const ENTRIES = 12;
/** Lines of a command's output that the report shows. */
const OUTPUT_LINES = 8;
/** Characters of any line in the report. */
const LINE_CHARACTERS = 160;

/** The report that ends a turn of the demo model, in Markdown. */
export function writeDemoReport(question: string, findings: readonly DemoFinding[]): string {
  const sections = [
    'This is the built-in **demo model**. It is no language model: it looked at the folder in fixed steps and cannot answer questions.',
    ...(question === '' ? [] : [`You asked: ${cut(question.split('\n')[0] ?? '')}`]),
    ...folderSection(findings),
    ...findings.filter(finding => finding.name === 'Read').flatMap(fileSection),
    ...findings.filter(finding => finding.name === 'Shell').flatMap(commandSection),
    ...failureSection(findings),
    CONFIGURE,
  ];
  return `${sections.join('\n\n')}\n`;
}

const CONFIGURE = `## Use a real model

Set \`OPENAI_API_KEY\`, \`ANTHROPIC_API_KEY\`, \`OPENROUTER_API_KEY\` or \`GEMINI_API_KEY\`, start Ollama or LM Studio, or write a \`tandem.yaml\`:

\`\`\`yaml
providers:
  local:
    type: openai-compatible
    baseUrl: http://127.0.0.1:11434/v1
    models:
      - { id: qwen3-coder, contextWindow: 131072 }
\`\`\``;

function folderSection(findings: readonly DemoFinding[]): string[] {
  const entries = listingOf(findings);
  if (!entries) return [];
  if (entries.size === 0) return ['## The folder\n\nIt is empty.'];
  const shown = [...entries].slice(0, ENTRIES).map(entry => `- \`${cut(entry)}\``);
  const rest = entries.size - shown.length;
  if (rest > 0) shown.push(`- and ${rest} more`);
  return [`## The folder\n\n${shown.join('\n')}`];
}

function fileSection(finding: DemoFinding): string[] {
  if (finding.isError) return [];
  const path = String(finding.args['path']);
  const text = finding.text.replace(/^ *\d+\|/gm, '');
  const said = /^readme/i.test(path) ? describeReadme(text) : describeManifest(text);
  return said === '' ? [] : [`## ${path}\n\n${said}`];
}

/** The first heading and the first paragraph. */
function describeReadme(text: string): string {
  const lines = text.split('\n').map(line => line.trim());
  const heading = lines.find(line => line.startsWith('#'))?.replace(/^#+\s*/, '');
  const paragraph = lines.find(line => line !== '' && !/^[#!<[`=-]/.test(line));
  return [heading && `**${cut(heading)}**`, paragraph && cut(paragraph)].filter(Boolean).join('\n\n');
}

/** The lines of a manifest that name and describe; the same words in JSON, TOML and others. */
function describeManifest(text: string): string {
  const said = [...text.matchAll(/^\s*"?(name|description|version|module)"?\s*[:=]?\s+"?([^",\n]+)"?,?\s*$/gm)];
  return said
    .slice(0, 4)
    .map(([, key, value]) => `- ${key}: ${cut((value ?? '').trim())}`)
    .join('\n');
}

function commandSection(finding: DemoFinding): string[] {
  if (finding.isError) return [];
  const lines = finding.text.split('\n').filter(line => line.trim() !== '' && line !== 'Exit code: 0');
  const shown = lines.slice(0, OUTPUT_LINES).map(line => shorten(line.trimEnd()).replaceAll('```', "'''"));
  if (lines.length > shown.length) shown.push('…');
  return [`## \`${String(finding.args['command'])}\`\n\n\`\`\`\n${shown.join('\n')}\n\`\`\``];
}

function failureSection(findings: readonly DemoFinding[]): string[] {
  const failed = findings.filter(finding => finding.isError);
  if (findings.length === 0) return ['No tool for looking at a folder was offered, so there is nothing to report.'];
  if (failed.length === 0) return [];
  const lines = failed.map(
    finding =>
      `- ${finding.name} ${cut(JSON.stringify(finding.args))}: ${cut(finding.text.split('\n')[0] || 'no result')}`,
  );
  return [`## What did not work\n\n${lines.join('\n')}`];
}

/** One line without what Markdown would make of its spaces. */
function cut(text: string): string {
  return shorten(text.replace(/\s+/g, ' ').trimEnd());
}

function shorten(line: string): string {
  return line.length > LINE_CHARACTERS ? `${line.slice(0, LINE_CHARACTERS).toWellFormed()}…` : line;
}
