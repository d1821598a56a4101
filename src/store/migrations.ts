import type Sqlite from 'better-sqlite3';
import { AppError, messageOf } from '../shared/errors.ts';
import type { Migration } from './migration.ts';
import { accountsAndLiveStreams } from './migrations/0001-accounts-and-live-streams.ts';
import { videos } from './migrations/0002-videos.ts';
import { videoLists } from './migrations/0003-video-lists.ts';
import { eventNumbers } from './migrations/0004-event-numbers.ts';
import { webhooks } from './migrations/0005-webhooks.ts';
import { captionsAndPlayers } from './migrations/0006-captions-and-players.ts';
import { analytics } from './migrations/0007-analytics.ts';
import { keyPairsAndSummaries } from './migrations/0008-key-pairs-and-summaries.ts';
import { removedVideos } from './migrations/0009-removed-videos.ts';
import { tokensByAge } from './migrations/0010-tokens-by-age.ts';
import { recordings } from './migrations/0011-recordings.ts';
import { liveQualities } from './migrations/0012-live-qualities.ts';
import { ingestHealth } from './migrations/0013-ingest-health.ts';
import { sandboxRetention } from './migrations/0014-sandbox-retention.ts';
import { emptyContainers } from './migrations/0015-empty-containers.ts';
import { joinedSources } from './migrations/0016-joined-sources.ts';
import { sessions } from './migrations/0017-sessions.ts';
import { traffic } from './migrations/0018-traffic.ts';
import { jobGroups } from './migrations/0019-job-groups.ts';
import { liveRecording } from './migrations/0020-live-recording.ts';
import { uploadClients } from './migrations/0021-upload-clients.ts';
import { jobCrashes } from './migrations/0022-job-crashes.ts';
import { nodes } from './migrations/0023-nodes.ts';
import { storedChunks } from './migrations/0024-stored-chunks.ts';
import { live } from './migrations/0025-live.ts';
import { arrivingUploads } from './migrations/0026-arriving-uploads.ts';
import { access } from './migrations/0027-access.ts';
import { recordingNodes } from './migrations/0028-recording-nodes.ts';
import { signInAttempts } from './migrations/0029-sign-in-attempts.ts';
import { nodeLoads } from './migrations/0030-node-loads.ts';
import { sharedPlaybacks } from './migrations/0031-shared-playbacks.ts';
import { sourceTracks } from './migrations/0032-source-tracks.ts';
import { liveAudioTracks } from './migrations/0033-live-audio-tracks.ts';
import { liveSources } from './migrations/0034-live-sources.ts';
import { ultraLowLatency } from './migrations/0035-ultra-low-latency.ts';
import { retention } from './migrations/0036-retention.ts';
import { codecRenditions } from './migrations/0037-codec-renditions.ts';
import { signedPlayback } from './migrations/0038-signed-playback.ts';
import { hooks } from './migrations/0039-hooks.ts';
import { keyScopes } from './migrations/0040-key-scopes.ts';
import { twoFactor } from './migrations/0041-two-factor.ts';
import { clips } from './migrations/0042-clips.ts';
import { auditLog } from './migrations/0043-audit-log.ts';
import { passkeys } from './migrations/0044-passkeys.ts';
import { members } from './migrations/0045-members.ts';
import { transcripts } from './migrations/0046-transcripts.ts';
import { identities } from './migrations/0047-identities.ts';
import { invitationMails } from './migrations/0048-invitation-mails.ts';
import { analyticsViewers } from './migrations/0049-analytics-viewers.ts';
import { viewerClips } from './migrations/0050-viewer-clips.ts';
import { projectPairs } from './migrations/0051-project-pairs.ts';
import { removedAnalytics } from './migrations/0052-removed-analytics.ts';
import { passwordResets } from './migrations/0053-password-resets.ts';
import { videoDefaults } from './migrations/0054-video-defaults.ts';
import { textTrackWarnings } from './migrations/0055-text-track-warnings.ts';
import { canonicalEmails } from './migrations/0056-canonical-emails.ts';
import { jobParsing } from './migrations/0057-job-parsing.ts';
import { inheritedAccess } from './migrations/0058-inherited-access.ts';
import { cutOffPublishers } from './migrations/0059-cut-off-publishers.ts';
import { verifiedEmails } from './migrations/0060-verified-emails.ts';
import { recordedPolicies } from './migrations/0061-recorded-policies.ts';
import { unverifiedChanges } from './migrations/0062-unverified-changes.ts';
import { assertNotTooNew, assertNotTooOld, type SchemaVersion } from './schema-compatibility.ts';
import { addSqlFunctions } from './sql-functions.ts';

/** In order. SQLite's `user_version` is the number of applied ones. */
export const migrations: readonly Migration[] = [
  accountsAndLiveStreams,
  videos,
  videoLists,
  eventNumbers,
  webhooks,
  captionsAndPlayers,
  analytics,
  keyPairsAndSummaries,
  removedVideos,
  tokensByAge,
  recordings,
  liveQualities,
  ingestHealth,
  sandboxRetention,
  emptyContainers,
  joinedSources,
  sessions,
  traffic,
  jobGroups,
  liveRecording,
  uploadClients,
  jobCrashes,
  nodes,
  storedChunks,
  live,
  arrivingUploads,
  access,
  recordingNodes,
  signInAttempts,
  nodeLoads,
  sharedPlaybacks,
  sourceTracks,
  liveAudioTracks,
  liveSources,
  ultraLowLatency,
  retention,
  codecRenditions,
  signedPlayback,
  hooks,
  keyScopes,
  twoFactor,
  clips,
  auditLog,
  passkeys,
  members,
  transcripts,
  identities,
  invitationMails,
  analyticsViewers,
  viewerClips,
  projectPairs,
  removedAnalytics,
  passwordResets,
  videoDefaults,
  textTrackWarnings,
  canonicalEmails,
  jobParsing,
  inheritedAccess,
  cutOffPublishers,
  verifiedEmails,
  recordedPolicies,
  unverifiedChanges,
];

/** Uses a transaction per migration. @throws AppError `database-unusable` */
export function migrate(sqlite: Sqlite.Database, steps: readonly Migration[] = migrations): number {
  const found = readVersion(sqlite);
  assertNotTooNew(nameOf(sqlite), found, steps.length);
  addSqlFunctions(sqlite);
  for (const [index, step] of steps.entries()) {
    const number = index + 1;
    if (number <= found.version) continue;
    try {
      const apply = sqlite.transaction(() => {
        sqlite.exec(step.sql);
        for (const { select, statements } of step.rewrites ?? []) {
          for (const statement of statements(sqlite.prepare(select).all())) sqlite.exec(statement);
        }
        assertReferences(sqlite, step.rebuiltTable);
        sqlite.pragma(`user_version = ${number}`);
        if (step.isCompatible === false) {
          sqlite.prepare('UPDATE schema_compatibility SET min_version = ?').run(number);
        }
      });
      if (step.rebuiltTable === undefined) apply.immediate();
      else withoutForeignKeys(sqlite, () => apply.immediate());
    } catch (error) {
      throw new AppError(
        'database-unusable',
        `Migration ${number} (${step.name}) of the database ${sqlite.name} failed: ${messageOf(error)}`,
        { cause: error },
      );
    }
  }
  return Math.max(0, steps.length - found.version);
}

/** Must run outside a transaction. With foreign keys, `DROP TABLE` would delete the rows that refer to the table. */
function withoutForeignKeys(sqlite: Sqlite.Database, apply: () => void): void {
  const enabled = sqlite.pragma('foreign_keys', { simple: true });
  sqlite.pragma('foreign_keys = OFF');
  sqlite.pragma('legacy_alter_table = ON');
  try {
    apply();
  } finally {
    sqlite.pragma('legacy_alter_table = OFF');
    sqlite.pragma(`foreign_keys = ${enabled}`);
  }
}

function assertReferences(sqlite: Sqlite.Database, rebuiltTable: string | undefined): void {
  if (rebuiltTable === undefined) return;
  const broken = sqlite.pragma('foreign_key_check') as { table: string; parent: string }[];
  const one = broken.find(({ parent }) => parent === rebuiltTable);
  if (one !== undefined) throw new Error(`a row of ${one.table} refers to no row of ${rebuiltTable}`);
}

/** @throws AppError `database-unusable` when it was not migrated, or needs a newer version */
export function checkIsCurrent(sqlite: Sqlite.Database, steps: readonly Migration[] = migrations): void {
  const found = readVersion(sqlite);
  assertNotTooNew(nameOf(sqlite), found, steps.length);
  assertNotTooOld(nameOf(sqlite), found, steps.length);
  addSqlFunctions(sqlite);
}

function readVersion(sqlite: Sqlite.Database): SchemaVersion {
  const version = sqlite.pragma('user_version', { simple: true }) as number;
  const isStored = sqlite.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_compatibility'").get();
  const minVersion = isStored && sqlite.prepare('SELECT min_version FROM schema_compatibility').pluck().get();
  return { version, minVersion: minVersion as number | undefined };
}

function nameOf(sqlite: Sqlite.Database): string {
  return `The database ${sqlite.name}`;
}
