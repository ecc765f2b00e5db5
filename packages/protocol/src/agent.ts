/**
 * The messages, enums and services of `agent.v1`, as generated from `proto/agent/v1`.
 * The message `agent.v1.Error` goes by the name `AgentError`, so that nobody's `Error` is shadowed by accident.
 */
export * from '../gen/agent/v1/action_pb.js';
export * from '../gen/agent/v1/approval_pb.js';
export * from '../gen/agent/v1/background_task_pb.js';
export * from '../gen/agent/v1/context_pb.js';
export * from '../gen/agent/v1/context_parts_pb.js';
export * from '../gen/agent/v1/context_usage_pb.js';
export * from '../gen/agent/v1/conversation_pb.js';
export * from '../gen/agent/v1/conversation_history_pb.js';
export * from '../gen/agent/v1/conversation_state_pb.js';
export * from '../gen/agent/v1/conversation_step_pb.js';
export * from '../gen/agent/v1/directory_tree_pb.js';
export {
  type Error as AgentError,
  ErrorSchema as AgentErrorSchema,
  file_agent_v1_error,
} from '../gen/agent/v1/error_pb.js';
export * from '../gen/agent/v1/exec_pb.js';
export * from '../gen/agent/v1/exec_computer_pb.js';
export * from '../gen/agent/v1/exec_context_pb.js';
export * from '../gen/agent/v1/exec_diagnostics_pb.js';
export * from '../gen/agent/v1/exec_files_pb.js';
export * from '../gen/agent/v1/exec_hooks_pb.js';
export * from '../gen/agent/v1/exec_mcp_pb.js';
export * from '../gen/agent/v1/exec_other_pb.js';
export * from '../gen/agent/v1/exec_pi_pb.js';
export * from '../gen/agent/v1/exec_search_pb.js';
export * from '../gen/agent/v1/exec_shell_pb.js';
export * from '../gen/agent/v1/exec_subagent_pb.js';
export * from '../gen/agent/v1/exec_web_pb.js';
export * from '../gen/agent/v1/hook_context_pb.js';
export * from '../gen/agent/v1/interaction_pb.js';
export * from '../gen/agent/v1/interaction_query_pb.js';
export * from '../gen/agent/v1/kv_pb.js';
export * from '../gen/agent/v1/mcp_pb.js';
export * from '../gen/agent/v1/mode_pb.js';
export * from '../gen/agent/v1/model_pb.js';
export * from '../gen/agent/v1/output_location_pb.js';
export * from '../gen/agent/v1/range_pb.js';
export * from '../gen/agent/v1/rules_pb.js';
export * from '../gen/agent/v1/run_pb.js';
export * from '../gen/agent/v1/sandbox_pb.js';
export * from '../gen/agent/v1/selection_pb.js';
export * from '../gen/agent/v1/selection_git_pb.js';
export * from '../gen/agent/v1/selection_media_pb.js';
export * from '../gen/agent/v1/services_pb.js';
export * from '../gen/agent/v1/tools_agents_pb.js';
export * from '../gen/agent/v1/tools_canvas_pb.js';
export * from '../gen/agent/v1/tools_computer_pb.js';
export * from '../gen/agent/v1/tools_environment_pb.js';
export * from '../gen/agent/v1/tools_files_pb.js';
export * from '../gen/agent/v1/tools_goal_pb.js';
export * from '../gen/agent/v1/tools_mcp_pb.js';
export * from '../gen/agent/v1/tools_pi_pb.js';
export * from '../gen/agent/v1/tools_plan_pb.js';
export * from '../gen/agent/v1/tools_pull_request_pb.js';
export * from '../gen/agent/v1/tools_question_pb.js';
export * from '../gen/agent/v1/tools_review_pb.js';
export * from '../gen/agent/v1/tools_search_pb.js';
export * from '../gen/agent/v1/tools_shell_pb.js';
export * from '../gen/agent/v1/tools_web_pb.js';
export * from '../gen/agent/v1/trace_pb.js';
export * from '../gen/agent/v1/user_message_pb.js';
