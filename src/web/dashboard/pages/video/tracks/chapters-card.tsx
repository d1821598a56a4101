import { useState } from 'preact/hooks';
import { parseChapters } from '../../../../shared/chapters.ts';
import { saveFile } from '../../../../shared/save-file.ts';
import { formatTimecode } from '../../../../shared/time-text.ts';
import type { Chapter } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { languageName } from '../../../format/languages.ts';
import { localUrl } from '../../../format/local-url.ts';
import { can } from '../../../state/session.ts';
import { t } from '../../../texts/video.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/dialog/confirm-dialog.tsx';
import { useLoad } from '../../../ui/hooks/use-load.ts';
import { Menu, type MenuItem } from '../../../ui/menu.tsx';
import { Section } from '../../../ui/page.tsx';
import { LoadedContent } from '../../../ui/states.tsx';
import { showToast } from '../../../ui/toast.tsx';
import { playFrom } from '../../captions/move-player.ts';
import { fetchText } from '../thumbnail/use-frame-source.ts';
import { ChaptersEditor, type StoredChapters } from './chapters-editor.tsx';
import { TrackUpload } from './track-upload.tsx';
import { removeTrack } from './tracks.ts';

type Open =
  | { readonly kind: 'write' }
  | { readonly kind: 'edit'; readonly language: string; readonly stored: StoredChapters }
  | { readonly kind: 'upload'; readonly language?: string }
  | { readonly kind: 'remove'; readonly language: string };

export function ChaptersCard({
  videoId,
  duration,
  player,
}: {
  videoId: string;
  duration: number | undefined;
  player: HTMLVideoElement | undefined;
}) {
  const [open, setOpen] = useState<Open>();
  const loaded = useLoad(videoId, signal =>
    call('GET /videos/{videoId}/chapters', { params: { videoId }, query: { pageSize: 100 }, signal }),
  );
  const present = (loaded.value?.data ?? []).map(({ language }) => language);
  const close = () => setOpen(undefined);
  if (open?.kind === 'write' || open?.kind === 'edit') {
    return (
      <Section title={open.kind === 'write' ? t('chapters.writeTitle') : t('chapters.editTitle')}>
        <ChaptersEditor
          videoId={videoId}
          {...(open.kind === 'edit' ? { language: open.language, stored: open.stored } : {})}
          present={present}
          duration={duration}
          player={player}
          onDone={loaded.reload}
          onClose={close}
        />
      </Section>
    );
  }
  return (
    <Section
      title={t('chapters.title')}
      actions={
        can('upload') && (
          <>
            <Button
              small
              icon="edit"
              label={t('chapters.writeTitle')}
              onClick={() => setOpen({ kind: 'write' })}
            >
              {t('tracks.write')}
            </Button>
            <Button
              small
              icon="upload"
              label={t('trackUpload.title.chapters')}
              onClick={() => setOpen({ kind: 'upload' })}
            >
              {t('tracks.upload')}
            </Button>
          </>
        )
      }
    >
      <LoadedContent loaded={loaded} rows={1}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="quiet">{t('chapters.none')}</p>
          ) : (
            <ul class="tracks">
              {data.map(track => (
                <ChapterTrack
                  key={track.language}
                  track={track}
                  round={loaded.value}
                  player={player}
                  onOpen={setOpen}
                />
              ))}
            </ul>
          )
        }
      </LoadedContent>
      {open?.kind === 'upload' && (
        <TrackUpload
          kind="chapters"
          videoId={videoId}
          language={open.language}
          present={present}
          onDone={loaded.reload}
          onClose={close}
        />
      )}
      {open?.kind === 'remove' && (
        <ConfirmDialog
          title={t('chapters.removeTitle', { language: languageName(open.language) })}
          action={t('chapters.remove')}
          work={async () => {
            await removeTrack('chapters', videoId, open.language);
            showToast(t('chapters.removed'));
            loaded.reload();
          }}
          onClose={close}
        >
          <p>{t('chapters.removeText')}</p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

function ChapterTrack({
  track: { language, src, warnings },
  round,
  player,
  onOpen,
}: {
  track: Chapter;
  player: HTMLVideoElement | undefined;
  /** Changes with every load of the list: the file may have changed. */
  round: unknown;
  onOpen: (open: Open) => void;
}) {
  const address = localUrl(src);
  const content = useChapters(address, round);
  const name = languageName(language);
  const stored = content.value;
  const changes: MenuItem[] = [
    // Without its chapters, the editor would replace the file with nothing.
    ...(stored === undefined
      ? []
      : [
          {
            label: t('tracks.edit'),
            icon: 'edit',
            onClick: () => onOpen({ kind: 'edit', language, stored }),
          } as const,
        ]),
    { label: t('tracks.replaceFile'), icon: 'upload', onClick: () => onOpen({ kind: 'upload', language }) },
  ];
  const download: MenuItem = {
    label: t('tracks.download'),
    icon: 'download',
    onClick: () => saveFile(address, `${language}.vtt`),
  };
  const removal: MenuItem = {
    label: t('tracks.remove'),
    icon: 'trash',
    danger: true,
    onClick: () => onOpen({ kind: 'remove', language }),
  };
  return (
    <li class="chapter-track">
      <div class="track-head">
        <span class="track-name">
          {name}
          {warnings !== undefined && <span class="hint">{warnings.join(' ')}</span>}
        </span>
        <Menu
          label={t('chapters.actions', { language: name })}
          items={can('upload') ? [...changes, download, removal] : [download]}
        />
      </div>
      <LoadedContent loaded={content} rows={2}>
        {({ chapters }) =>
          chapters.length === 0 ? (
            <p class="hint">{t('chapters.noneShown')}</p>
          ) : (
            <ol class="chapter-list" aria-label={t('chapters.list', { language: name })}>
              {chapters.map(({ startSeconds, name: title }) => (
                <li key={startSeconds}>
                  {player === undefined ? (
                    <span class="number">{formatTimecode(startSeconds)}</span>
                  ) : (
                    <button
                      type="button"
                      class="number"
                      aria-label={t('chapters.playFrom', { time: formatTimecode(startSeconds), title })}
                      onClick={() => playFrom(player, startSeconds)}
                    >
                      {formatTimecode(startSeconds)}
                    </button>
                  )}
                  <span lang={language}>{title}</span>
                </li>
              ))}
            </ol>
          )
        }
      </LoadedContent>
    </li>
  );
}

function useChapters(address: string, round: unknown) {
  const [known, setKnown] = useState({ round, count: 0 });
  if (known.round !== round) setKnown({ round, count: known.count + 1 });
  return useLoad(`${known.count} ${address}`, async (signal): Promise<StoredChapters> => {
    const text = await fetchText(address, signal);
    return { text, chapters: parseChapters(text) };
  });
}
