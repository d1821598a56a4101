import type { Video } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { t } from '../../texts/video.ts';
import { copyText } from '../../ui/copy.tsx';

/** Each link to a private video works for one viewer, so each copy is another one. */
export async function copyVideoLink({ videoId, public: isPublic, assets }: Video): Promise<void> {
  if (isPublic && assets !== null) return copyText(assets.player, t('share.link'));
  const fresh = await call('GET /videos/{videoId}', { params: { videoId } });
  await copyText(fresh.assets?.player ?? '', isPublic ? t('share.link') : t('share.linkForOne'));
}
