/**
 * Calls that stock clients make around a run and that have nothing to say here: an empty success at once (F19). The first one
 * must never hang: a client waits for it without a deadline.
 */
export const housekeepingPaths: ReadonlySet<string> = new Set([
  '/aiserver.v1.DashboardService/GetUserPrivacyMode',
  '/aiserver.v1.DashboardService/GetTeamAdminSettingsOrEmptyIfNotInTeam',
  '/aiserver.v1.DashboardService/GetTeamReposOrEmptyIfNotInTeam',
  '/aiserver.v1.ServerConfigService/GetServerConfig',
  '/aiserver.v1.AnalyticsService/BootstrapStatsig',
  '/aiserver.v1.AnalyticsService/TrackEvents',
  // with these a client asks whether anybody is there, and gives up on a server that answers otherwise
  '/aiserver.v1.NetworkService/IsConnected',
  '/aiserver.v1.HealthService/Ping',
]);
