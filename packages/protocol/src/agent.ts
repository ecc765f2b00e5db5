/**
 * The messages, enums and services of `agent.v1`, as generated from `proto/agent/v1`.
 * The message `agent.v1.Error` goes by the name `AgentError`, so that nobody's `Error` is shadowed by accident.
 */
export * from '../gen/agent/v1/schema_pb.js';
export {
  type Error as AgentError,
  ErrorSchema as AgentErrorSchema,
  file_agent_v1_error,
} from '../gen/agent/v1/error_pb.js';
