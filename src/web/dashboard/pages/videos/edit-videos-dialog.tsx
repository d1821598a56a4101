import { useState } from 'preact/hooks';
import type { Video } from '../../api/api-types.ts';
import { call, type Input } from '../../api/client.ts';
import { addTags } from '../../format/tags.ts';
import { projectHeaders } from '../../state/session.ts';
import { locale } from '../../state/texts.ts';
import { t } from '../../texts/videos.ts';
import { runBulk } from '../../ui/bulk/run-bulk.ts';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { SelectField } from '../../ui/form/field.tsx';
import { PlayerThemeField } from '../../ui/form/player-theme-field.tsx';
import { SpokenLanguageField } from '../../ui/form/spoken-language-field.tsx';
import { TagField } from '../../ui/form/tag-field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { useChannel } from '../../ui/hooks/use-channel.ts';
import { Progress } from '../../ui/progress.tsx';
import { showBulkResult } from './discard-videos.ts';

type Changes = Input<'PATCH /videos/{videoId}'>['body'];
type Switch = 'keep' | 'yes' | 'no';
type Visibility = 'keep' | 'channel' | 'public' | 'private';

/** Changes what is chosen in all videos, and leaves the rest. */
export function EditVideosDialog({ videos, onClose }: { videos: readonly Video[]; onClose: () => void }) {
  const [added, setAdded] = useState<readonly string[]>([]);
  const [typed, setTyped] = useState('');
  const [removed, setRemoved] = useState('keep');
  const [visibility, setVisibility] = useState<Visibility>('keep');
  const { value: channel } = useChannel();
  const [mp4, setMp4] = useState<Switch>('keep');
  const [language, setLanguage] = useState('keep');
  const [playerId, setPlayerId] = useState('keep');
  const [done, setDone] = useState<number>();
  const keep = ['keep', t('editVideos.unchanged')] as const;
  const wanted = addTags(added, typed);
  const changes: Changes = {
    ...(visibility === 'keep' ? {} : { public: visibility !== 'private', listed: visibility === 'channel' }),
    ...(mp4 === 'keep' ? {} : { mp4Support: mp4 === 'yes' }),
    ...(language === 'keep' ? {} : { language: language === '' ? null : language }),
    ...(playerId === 'keep' ? {} : { playerId: playerId === '' ? null : playerId }),
  };
  const isUnchanged = Object.keys(changes).length === 0 && wanted.tags.length === 0 && removed === 'keep';
  const submission = useSubmit(async () => {
    const headers = projectHeaders();
    const result = await runBulk(
      videos,
      async video => {
        const body = { ...changes, ...changedTags(video, wanted.tags, removed) };
        if (Object.keys(body).length === 0) return;
        await call('PATCH /videos/{videoId}', { params: { videoId: video.videoId }, body, headers });
      },
      { onProgress: setDone },
    ).finally(() => setDone(undefined));
    // The problem of the only one belongs to its field.
    const [failure] = result.failed;
    if (failure !== undefined && result.done.length === 0) throw failure.problem;
    showBulkResult(result, 'changed');
    onClose();
  });
  return (
    <FormDialog
      title={
        videos.length === 1 ? t('editVideos.title') : t('editVideos.titleMany', { count: videos.length })
      }
      action={t('editVideos.save')}
      disabled={isUnchanged || wanted.rest !== ''}
      submission={submission}
      onClose={onClose}
    >
      <TagField
        label={t('editVideos.addTags')}
        tags={added}
        typed={typed}
        error={wanted.problem}
        onTyped={setTyped}
        onChange={alteration => setAdded(alteration)}
      />
      <div class="form-grid two">
        <SelectField
          label={t('editVideos.removeTag')}
          value={removed}
          options={[
            ['keep', t('editVideos.none')],
            ...tagsOf(videos).map(tag => [`tag:${tag}`, tag] as const),
          ]}
          onValue={setRemoved}
        />
        <SelectField<Visibility>
          label={t('editVideos.visibility')}
          value={visibility}
          options={[
            keep,
            ...(channel?.enabled === true ? [['channel', t('editVideos.channel')] as const] : []),
            ['public', t('editVideos.public')],
            ['private', t('editVideos.private')],
          ]}
          onValue={setVisibility}
        />
        <SpokenLanguageField unchanged={keep} value={language} onValue={setLanguage} />
        <PlayerThemeField unchanged={keep} value={playerId} onValue={setPlayerId} />
        <SelectField<Switch>
          label={t('editVideos.mp4')}
          value={mp4}
          options={[keep, ['yes', t('editVideos.offer')], ['no', t('editVideos.noOffer')]]}
          onValue={setMp4}
        />
      </div>
      {done !== undefined && videos.length > 1 && (
        <Progress label={t('editVideos.progress')} percent={(100 * done) / videos.length} />
      )}
    </FormDialog>
  );
}

function tagsOf(videos: readonly Video[]): string[] {
  return [...new Set(videos.flatMap(({ tags }) => tags))].sort(new Intl.Collator(locale()).compare);
}

/** @param removed `tag:` and the tag, or `keep` */
function changedTags({ tags }: Video, added: readonly string[], removed: string): Changes {
  const after = [...new Set([...tags.filter(tag => `tag:${tag}` !== removed), ...added])];
  const isSame = after.length === tags.length && after.every(tag => tags.includes(tag));
  return isSame ? {} : { tags: after };
}
