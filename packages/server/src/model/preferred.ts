import type { Model } from './port.ts';

/** Families for everyday work, best known first, for when a config names no default model. */
const FAMILIES: readonly RegExp[] = [
  /^gpt-(\d+(?:\.\d+)?)$/,
  /^openai\/gpt-(\d+(?:\.\d+)?)$/,
  /^claude-sonnet-(\d+(?:[.-]\d)?)(?:-\d{8})?$/,
  /^anthropic\/claude-sonnet-(\d+(?:\.\d+)?)$/,
  /^gemini-(\d+(?:\.\d+)?)-pro$/,
  /^qwen(\d+(?:\.\d+)?)-coder/,
];

/** The newest model of the first family that has one; undefined when none is known. */
export function preferred(models: readonly Model[]): Model | undefined {
  for (const family of FAMILIES) {
    const members = models
      .map(model => ({ model, version: Number(family.exec(model.info.id)?.[1]?.replace('-', '.') ?? Number.NaN) }))
      .filter(({ version }) => !Number.isNaN(version))
      .sort((a, b) => b.version - a.version);
    if (members[0]) return members[0].model;
  }
  return undefined;
}
