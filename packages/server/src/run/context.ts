import { create, fromBinary } from '@bufbuild/protobuf';
import { isBlobId } from '@tandem/protocol';
import {
  RequestContextMcpsPartSchema,
  RequestContextRulesPartSchema,
  RequestContextSchema,
  RequestContextSkillsPartSchema,
  RequestContextSubagentsPartSchema,
} from '@tandem/protocol/agent';
import type { ConversationAction, RequestContext, RequestContextPartReferences } from '@tandem/protocol/agent';
import type { ExecBridge } from '../bridge/exec.ts';
import type { RunBlobs } from '../conversation/blobs.ts';
import type { Log } from '../observe/log.ts';

/** The context that an action carries whole, or undefined. */
function inlineContext(action: ConversationAction['action']): RequestContext | undefined {
  const value = action.value as { requestContext?: RequestContext } | undefined;
  return value?.requestContext;
}

/**
 * What the client tells of its workspace (R43, R44): whole in the action, in four parts behind references, or asked for by
 * exec. Undefined when it will not say.
 */
export async function loadContext(options: {
  action: ConversationAction;
  blobs: RunBlobs;
  exec: ExecBridge;
  signal: AbortSignal;
  log: Log;
}): Promise<RequestContext | undefined> {
  const { action, blobs, exec, signal, log } = options;
  if (action.requestContextParts)
    return joinParts(action.requestContextParts, inlineContext(action.action), blobs, log);
  return inlineContext(action.action) ?? exec.requestContext(signal);
}

async function joinParts(
  parts: RequestContextPartReferences,
  inline: RequestContext | undefined,
  blobs: RunBlobs,
  log: Log,
): Promise<RequestContext> {
  const context = parts.dynamicContext ?? inline ?? create(RequestContextSchema);
  const read = async <Part>(
    name: string,
    id: Uint8Array,
    decode: (data: Uint8Array) => Part,
  ): Promise<Part | undefined> => {
    if (id.length === 0) return undefined;
    const [found] = await blobs.getAll([id]);
    const missing = found!.inline && isBlobId(id);
    try {
      if (!missing) return decode(found!.data);
    } catch {
      // told below: the turn goes on without a part rather than not at all
    }
    log.warn({ part: name }, 'a part of the request context could not be had');
    return undefined;
  };
  const [rules, skills, subagents, mcps] = await Promise.all([
    read('rules', parts.rulesBlobId, data => fromBinary(RequestContextRulesPartSchema, data)),
    read('skills', parts.skillsBlobId, data => fromBinary(RequestContextSkillsPartSchema, data)),
    read('subagents', parts.subagentsBlobId, data => fromBinary(RequestContextSubagentsPartSchema, data)),
    read('mcps', parts.mcpsBlobId, data => fromBinary(RequestContextMcpsPartSchema, data)),
  ]);
  if (rules) {
    context.rules.push(...rules.rules);
    context.nonFileRules.push(...rules.nonFileRules);
    context.cloudRule ??= rules.cloudRule;
  }
  if (skills) {
    context.agentSkills.push(...skills.agentSkills);
    context.skillOptions ??= skills.skillOptions;
  }
  if (subagents) context.customSubagents.push(...subagents.customSubagents);
  if (mcps) {
    context.tools.push(...mcps.tools);
    context.mcpInstructions.push(...mcps.mcpInstructions);
    context.mcpFileSystemOptions ??= mcps.mcpFileSystemOptions;
    context.mcpMetaToolOptions ??= mcps.mcpMetaToolOptions;
  }
  return context;
}
