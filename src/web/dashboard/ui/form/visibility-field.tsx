import { t } from '../../texts/shell.ts';
import { useChannel } from '../hooks/use-channel.ts';
import { SelectField } from './field.tsx';

/** Tells who may watch, and whether the channel of the project shows it. */
export interface Visibility {
  readonly public: boolean;
  readonly listed: boolean;
}

type Choice = 'channel' | 'public' | 'private';

function choiceOf({ public: isPublic, listed }: Visibility): Choice {
  if (!isPublic) return 'private';
  return listed ? 'channel' : 'public';
}

export function visibilityText(visibility: Visibility): string {
  return t(`visibility.text.${choiceOf(visibility)}`);
}

/** Offers the channel where the project has one. */
export function VisibilityField({
  label = t('visibility.label'),
  value,
  onValue,
}: {
  label?: string;
  value: Visibility;
  onValue: (visibility: Visibility) => void;
}) {
  const { value: channel } = useChannel();
  const choice = choiceOf(value);
  const choices = (['channel', 'public', 'private'] as const).filter(
    one => one !== 'channel' || channel?.enabled === true || choice === 'channel',
  );
  return (
    <SelectField<Choice>
      label={label}
      field="public"
      value={choice}
      onValue={chosen => onValue({ public: chosen !== 'private', listed: chosen === 'channel' })}
      options={choices.map(one => [one, t(`visibility.text.${one}`)] as const)}
      hint={choice === 'channel' && channel?.enabled === false ? t('visibility.channelOff') : undefined}
    />
  );
}
