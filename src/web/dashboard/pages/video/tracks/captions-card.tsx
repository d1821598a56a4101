import { useState } from 'preact/hooks';
import { saveFile } from '../../../../shared/save-file.ts';
import type { Caption } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { languageName } from '../../../format/languages.ts';
import { localUrl } from '../../../format/local-url.ts';
import { can } from '../../../state/session.ts';
import { t } from '../../../texts/video.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/dialog/confirm-dialog.tsx';
import { useLoad } from '../../../ui/hooks/use-load.ts';
import { useLocation } from '../../../ui/hooks/use-location.ts';
import { Menu, type MenuItem } from '../../../ui/menu.tsx';
import { Section } from '../../../ui/page.tsx';
import { LoadedContent } from '../../../ui/states.tsx';
import { showError, showToast } from '../../../ui/toast.tsx';
import { newCaptionsHref } from '../../captions/new-captions.ts';
import { TrackUpload } from './track-upload.tsx';
import { removeTrack } from './tracks.ts';
import { GenerateButton, isTranscribing, type Transcript, TranscriptState } from './transcript-state.tsx';
import { WriteCaptionsDialog } from './write-captions-dialog.tsx';

type Open =
  | { readonly kind: 'write' }
  | { readonly kind: 'upload'; readonly language?: string }
  | { readonly kind: 'remove'; readonly language: string };

export function CaptionsCard({
  videoId,
  transcript,
  onRequested,
}: {
  videoId: string;
  transcript: Transcript | undefined;
  onRequested: () => void;
}) {
  const { route } = useLocation();
  const [open, setOpen] = useState<Open>();
  const loaded = useLoad(`${videoId} ${transcript?.status}`, signal =>
    call('GET /videos/{videoId}/captions', { params: { videoId }, query: { pageSize: 100 }, signal }),
  );
  const captions = loaded.value?.data ?? [];
  const close = () => setOpen(undefined);
  const setDefault = ({ srclang }: Caption, isDefault: boolean) => {
    const params = { videoId, language: srclang };
    call('PATCH /videos/{videoId}/captions/{language}', { params, body: { default: isDefault } }).then(() => {
      showToast(
        isDefault ? t('captions.shown', { language: languageName(srclang) }) : t('captions.noneShown'),
      );
      loaded.reload();
    }, showError);
  };
  return (
    <Section
      title={t('captions.title')}
      actions={
        can('upload') && (
          <>
            <GenerateButton videoId={videoId} transcript={transcript} onRequested={onRequested} />
            <Button
              small
              icon="edit"
              label={t('writeCaptions.title')}
              onClick={() => setOpen({ kind: 'write' })}
            >
              {t('tracks.write')}
            </Button>
            <Button
              small
              icon="upload"
              label={t('trackUpload.title.captions')}
              onClick={() => setOpen({ kind: 'upload' })}
            >
              {t('tracks.upload')}
            </Button>
          </>
        )
      }
    >
      <TranscriptState transcript={transcript} />
      <LoadedContent loaded={loaded} rows={1}>
        {({ data }) =>
          data.length === 0 ? (
            !isTranscribing(transcript) && <p class="quiet">{t('captions.none')}</p>
          ) : (
            <ul class="tracks">
              {data.map(caption => (
                <CaptionRow
                  key={caption.srclang}
                  caption={caption}
                  editorHref={`/dashboard/videos/${videoId}/captions/${caption.srclang}`}
                  onDefault={isDefault => setDefault(caption, isDefault)}
                  onOpen={kind => setOpen({ kind, language: caption.srclang })}
                />
              ))}
            </ul>
          )
        }
      </LoadedContent>
      {open?.kind === 'write' && (
        <WriteCaptionsDialog
          present={captions.map(({ srclang }) => srclang)}
          onChosen={language => route(newCaptionsHref(videoId, language))}
          onClose={close}
        />
      )}
      {open?.kind === 'upload' && (
        <TrackUpload
          kind="captions"
          videoId={videoId}
          language={open.language}
          present={captions.map(({ srclang }) => srclang)}
          onDone={loaded.reload}
          onClose={close}
        />
      )}
      {open?.kind === 'remove' && (
        <ConfirmDialog
          title={t('captions.removeTitle', { language: languageName(open.language) })}
          action={t('captions.remove')}
          work={async () => {
            await removeTrack('captions', videoId, open.language);
            showToast(t('captions.removed'));
            loaded.reload();
          }}
          onClose={close}
        >
          <p>{t('captions.removeText')}</p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

function CaptionRow({
  caption,
  editorHref,
  onDefault,
  onOpen,
}: {
  caption: Caption;
  editorHref: string;
  onDefault: (isDefault: boolean) => void;
  onOpen: (kind: 'upload' | 'remove') => void;
}) {
  const { route } = useLocation();
  const { srclang, languageName: nativeName, src } = caption;
  const name = languageName(srclang);
  const changes: MenuItem[] = [
    { label: t('tracks.edit'), icon: 'edit', leaves: true, onClick: () => route(editorHref) },
    caption.default
      ? { label: t('captions.hide'), icon: 'eye-off', onClick: () => onDefault(false) }
      : { label: t('captions.show'), icon: 'eye', onClick: () => onDefault(true) },
    { label: t('tracks.replaceFile'), icon: 'upload', onClick: () => onOpen('upload') },
  ];
  const download: MenuItem = {
    label: t('tracks.download'),
    icon: 'download',
    onClick: () => saveFile(localUrl(src), `${srclang}.vtt`),
  };
  const removal: MenuItem = {
    label: t('tracks.remove'),
    icon: 'trash',
    danger: true,
    onClick: () => onOpen('remove'),
  };
  return (
    <li>
      <span class="track-name">
        {name}
        {nativeName !== name && (
          <span class="quiet" lang={srclang}>
            {nativeName}
          </span>
        )}
        {caption.default && <Badge tone="info">{t('captions.default')}</Badge>}
        {caption.generated === true && <Badge>{t('captions.automatic')}</Badge>}
        {caption.warnings !== undefined && <span class="hint">{caption.warnings.join(' ')}</span>}
      </span>
      <Menu
        label={t('captions.actions', { language: name })}
        items={can('upload') ? [...changes, download, removal] : [download]}
      />
    </li>
  );
}
