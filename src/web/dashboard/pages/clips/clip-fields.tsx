import type { ComponentChildren } from 'preact';
import { maxTitleChars } from '../../../../shared/limits/resource-limits.ts';
import { t } from '../../texts/overview.ts';
import { CheckField, TextField } from '../../ui/form/field.tsx';
import { FieldValues } from '../../ui/form/form-context.tsx';
import { SegmentedControl } from '../../ui/form/segmented-control.tsx';

export interface ClipOptions {
  readonly title: string;
  readonly precision: 'keyframe' | 'frame';
  readonly isPublic: boolean;
}

export function ClipFields({
  options,
  onOptions,
  children,
}: {
  options: ClipOptions;
  onOptions: (options: ClipOptions) => void;
  children?: ComponentChildren;
}) {
  const { precision } = options;
  return (
    <FieldValues values={options} onValues={onOptions}>
      <TextField label={t('clip.title')} field="title" maxLength={maxTitleChars} required />
      {children}
      <div class="field">
        <SegmentedControl
          label={t('clip.precision')}
          value={precision}
          options={[
            ['frame', t('clip.exact')],
            ['keyframe', t('clip.fast')],
          ]}
          onValue={value => onOptions({ ...options, precision: value })}
        />
        <p class="hint">{t(`clip.precisionHints.${precision}`)}</p>
      </div>
      <CheckField field="isPublic" label={t('clip.public')} hint={t('clip.publicHint')} />
    </FieldValues>
  );
}
