import { useState } from 'preact/hooks';
import { formatCueTime } from '../../../../media/webvtt/cue-times.ts';
import type { LiveStream } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { t } from '../../texts/overview.ts';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { TextField } from '../../ui/form/field.tsx';
import { SegmentedControl } from '../../ui/form/segmented-control.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { ClipFields, type ClipOptions } from './clip-fields.tsx';
import { typedTime } from './clip-times.ts';

type Part = 'half' | 'minute' | 'custom';

const lastSeconds = { half: 30, minute: 60 } as const;

export function LiveClipDialog({
  stream,
  onCreated,
  onClose,
}: {
  stream: LiveStream;
  onCreated: (videoId: string) => void;
  onClose: () => void;
}) {
  const [part, setPart] = useState<Part>('half');
  const [typed, setTyped] = useState({ start: '', end: '' });
  const [options, setOptions] = useState<ClipOptions>({
    title: t('clip.titleOf', { title: stream.name }),
    precision: 'frame',
    isPublic: stream.public,
  });
  const [start, end] = [typedTime(typed.start), typedTime(typed.end)];
  const hasWrongOrder = start !== undefined && end !== undefined && end <= start;
  const faultOf = (text: string, seconds: number | undefined) =>
    text.trim() !== '' && seconds === undefined ? t('clip.wrongTime') : undefined;
  const isComplete = part !== 'custom' || (start !== undefined && end !== undefined);
  const submission = useSubmit(async () => {
    const { title, precision, isPublic } = options;
    const range =
      part === 'custom'
        ? {
            startTimecode: formatCueTime(1000 * (start ?? 0)),
            endTimecode: formatCueTime(1000 * (end ?? 0)),
          }
        : { lastSeconds: lastSeconds[part] };
    const created = await call('POST /videos', {
      body: { title, source: stream.liveStreamId, public: isPublic, clip: { ...range, precision } },
    });
    onCreated(created.videoId);
  });
  return (
    <FormDialog
      title={t('clip.broadcast')}
      action={t('clip.create')}
      disabled={!isComplete || (part === 'custom' && hasWrongOrder) || options.title.trim() === ''}
      submission={submission}
      onClose={onClose}
    >
      <ClipFields options={options} onOptions={setOptions}>
        <SegmentedControl
          label={t('clip.part')}
          value={part}
          options={[
            ['half', t('clip.half')],
            ['minute', t('clip.minute')],
            ['custom', t('clip.custom')],
          ]}
          onValue={setPart}
        />
        {part === 'custom' && (
          <>
            <div class="trim-times">
              <TextField
                label={t('clip.start')}
                placeholder="0:00"
                value={typed.start}
                onValue={value => setTyped({ ...typed, start: value })}
                field="clip[startTimecode]"
                error={faultOf(typed.start, start)}
              />
              <TextField
                label={t('clip.end')}
                placeholder="0:30"
                value={typed.end}
                onValue={value => setTyped({ ...typed, end: value })}
                field="clip[endTimecode]"
                error={hasWrongOrder ? t('clip.wrongEnd') : faultOf(typed.end, end)}
              />
            </div>
            <p class="hint">{t('clip.timesHint')}</p>
          </>
        )}
      </ClipFields>
    </FormDialog>
  );
}
