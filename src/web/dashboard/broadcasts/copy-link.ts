import type { LiveStream } from '../api/api-types.ts';
import { call } from '../api/client.ts';
import { t } from '../texts/shell.ts';
import { copyText } from '../ui/copy.tsx';

/** Each link to a private stream works for one viewer, so each copy is another one. */
export async function copyLink({ liveStreamId, public: isPublic, assets }: LiveStream): Promise<void> {
  if (isPublic) return copyText(assets.player, t('stream.link'));
  const fresh = await call('GET /live-streams/{liveStreamId}', { params: { liveStreamId } });
  await copyText(fresh.assets.player, t('stream.viewerLink'));
}
