import { useState } from 'preact/hooks';
import { saveFile } from '../../../../shared/save-file.ts';
import type { Caption } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { languageName } from '../../../format/languages.ts';
import { localUrl } from '../../../format/local-url.ts';
import { can } from '../../../state/session.ts';
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
        isDefault ? `${languageName(srclang)} is shown by default.` : 'No captions are shown by default.',
      );
      loaded.reload();
    }, showError);
  };
  return (
    <Section
      title="Captions"
      actions={
        can('upload') && (
          <>
            <GenerateButton videoId={videoId} transcript={transcript} onRequested={onRequested} />
            <Button small icon="edit" label="Write captions" onClick={() => setOpen({ kind: 'write' })}>
              Write
            </Button>
            <Button small icon="upload" label="Upload captions" onClick={() => setOpen({ kind: 'upload' })}>
              Upload
            </Button>
          </>
        )
      }
    >
      <TranscriptState transcript={transcript} />
      <LoadedContent loaded={loaded} rows={1}>
        {({ data }) =>
          data.length === 0 ? (
            !isTranscribing(transcript) && (
              <p class="quiet">No captions yet. Viewers choose them by language in the player.</p>
            )
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
          title={`Remove the captions in ${languageName(open.language)}?`}
          action="Remove captions"
          work={async () => {
            await removeTrack('captions', videoId, open.language);
            showToast('Captions removed.');
            loaded.reload();
          }}
          onClose={close}
        >
          <p>The file is deleted. Viewers can no longer choose captions in this language.</p>
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
    { label: 'Edit', icon: 'edit', leaves: true, onClick: () => route(editorHref) },
    caption.default
      ? { label: 'Don’t show by default', icon: 'eye-off', onClick: () => onDefault(false) }
      : { label: 'Show by default', icon: 'eye', onClick: () => onDefault(true) },
    { label: 'Replace file', icon: 'upload', onClick: () => onOpen('upload') },
  ];
  const download: MenuItem = {
    label: 'Download',
    icon: 'download',
    onClick: () => saveFile(localUrl(src), `${srclang}.vtt`),
  };
  const removal: MenuItem = {
    label: 'Remove',
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
        {caption.default && <Badge tone="info">Default</Badge>}
        {caption.generated === true && <Badge>Automatic</Badge>}
        {caption.warnings !== undefined && <span class="hint">{caption.warnings.join(' ')}</span>}
      </span>
      <Menu
        label={`Actions for ${name} captions`}
        items={can('upload') ? [...changes, download, removal] : [download]}
      />
    </li>
  );
}
