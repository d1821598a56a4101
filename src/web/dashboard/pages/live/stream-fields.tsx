import type { LiveStream } from '../../api/api-types.ts';
import { t } from '../../texts/live.ts';
import { CheckField, SelectField, TextField } from '../../ui/form/field.tsx';
import { FieldValues } from '../../ui/form/form-context.tsx';
import { PlayerThemeField } from '../../ui/form/player-theme-field.tsx';
import {
  OwnPolicyFields,
  type PolicyChoices,
  policyChoicesOf,
  policyOf,
} from '../../ui/form/policy-fields.tsx';
import { VisibilityField } from '../../ui/form/visibility-field.tsx';

interface StreamChoices {
  readonly name: string;
  readonly public: boolean;
  /** True when it is in the channel of the project. */
  readonly listed: boolean;
  readonly playerId: string;
  /** Empty for the server default. */
  readonly qualities: '' | 'passthrough' | 'ladder';
  readonly record: '' | 'always' | 'never';
  /** Empty for those of the project. */
  readonly keepRecordingsDays: string;
  readonly ultraLowLatency: boolean;
  readonly viewerClips: boolean;
  readonly showViewers: boolean;
  /** In the time zone of the browser, such as `2026-03-04T20:00`. Empty without one. */
  readonly startsAt: string;
  /** Undefined for that of the project. */
  readonly policy: PolicyChoices | undefined;
}

export const newStream: StreamChoices = {
  name: '',
  public: true,
  listed: false,
  playerId: '',
  qualities: '',
  record: '',
  keepRecordingsDays: '',
  ultraLowLatency: false,
  viewerClips: false,
  showViewers: false,
  startsAt: '',
  policy: undefined,
};

export function choicesOf(stream: LiveStream): StreamChoices {
  const { name, playerId = '', qualities = '', ultraLowLatency = false, viewerClips = false } = stream;
  const record = stream.record === undefined ? '' : stream.record ? 'always' : 'never';
  const keepRecordingsDays = stream.keepRecordingsDays?.toString() ?? '';
  const policy = stream.playbackPolicy && policyChoicesOf(stream.playbackPolicy);
  return {
    name,
    public: stream.public,
    listed: stream.listed === true,
    playerId,
    qualities,
    record,
    keepRecordingsDays,
    ultraLowLatency,
    viewerClips,
    showViewers: stream.showViewers === true,
    startsAt: stream.startsAt === undefined ? '' : localTimeOf(stream.startsAt),
    policy,
  };
}

export function bodyOf({
  name,
  playerId,
  qualities,
  record,
  keepRecordingsDays,
  startsAt,
  policy,
  ...rest
}: StreamChoices) {
  return {
    ...rest,
    playbackPolicy: policy === undefined ? null : policyOf(policy),
    name: name.trim(),
    playerId: playerId === '' ? null : playerId,
    qualities: qualities === '' ? null : qualities,
    record: record === '' ? null : record === 'always',
    keepRecordingsDays: keepRecordingsDays === '' ? null : Number(keepRecordingsDays),
    startsAt: startsAt === '' ? null : new Date(startsAt).toISOString(),
  };
}

/** Writes a time as fields of `datetime-local` have it. */
function localTimeOf(time: string): string {
  const at = new Date(time);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

interface FieldsProps {
  readonly choices: StreamChoices;
  readonly onChoices: (choices: StreamChoices) => void;
}

export function StreamFields(props: FieldsProps) {
  return (
    <>
      <MainStreamFields {...props} />
      <MoreStreamFields {...props} />
    </>
  );
}

/** Fields that a live stream needs. */
export function MainStreamFields({ choices, onChoices }: FieldsProps) {
  return (
    <FieldValues values={choices} onValues={onChoices}>
      <TextField label={t('streams.nameLabel')} field="name" maxLength={1024} required />
      <VisibilityField value={choices} onValue={visibility => onChoices({ ...choices, ...visibility })} />
    </FieldValues>
  );
}

export function MoreStreamFields({ choices, onChoices }: FieldsProps) {
  return (
    <FieldValues values={choices} onValues={onChoices}>
      <SelectField
        label={t('fields.qualities')}
        field="qualities"
        hint={t('fields.qualitiesHint')}
        options={[
          ['', t('fields.serverDefault')],
          ['passthrough', t('fields.sourceOnly')],
          ['ladder', t('fields.multipleQualities')],
        ]}
      />
      <SelectField
        label={t('fields.recording')}
        field="record"
        hint={choices.record === 'never' ? t('fields.neverHint') : t('fields.recordHint')}
        options={[
          ['', t('fields.serverDefault')],
          ['always', t('fields.always')],
          ['never', t('fields.never')],
        ]}
      />
      {choices.record !== 'never' && (
        <TextField
          label={t('fields.keepDays')}
          type="number"
          min={1}
          max={36_500}
          placeholder={t('fields.projectDefault')}
          field="keepRecordingsDays"
        />
      )}
      <CheckField
        field="ultraLowLatency"
        label={t('fields.ultraLowLatency')}
        hint={t('fields.ultraLowLatencyHint')}
      />
      <TextField
        label={t('fields.startsAt')}
        type="datetime-local"
        field="startsAt"
        hint={t('fields.startsAtHint', { zone: new Intl.DateTimeFormat().resolvedOptions().timeZone })}
      />
      <CheckField field="showViewers" label={t('fields.showViewers')} hint={t('fields.showViewersHint')} />
      <CheckField field="viewerClips" label={t('fields.viewerClips')} hint={t('fields.viewerClipsHint')} />
      <PlayerThemeField />
      <OwnPolicyFields own={choices.policy} onOwn={policy => onChoices({ ...choices, policy })} />
    </FieldValues>
  );
}
