import { useState } from 'preact/hooks';
import type { ServerSetting } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import type { ApiProblem } from '../../api/problem.ts';
import { t } from '../../texts/server.ts';
import { t as shellText } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { CheckField, SelectField, TextField } from '../../ui/form/field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { showToast } from '../../ui/toast.tsx';
import { SettingDescription } from './setting-description.tsx';

export function SettingDialog({
  setting,
  onClose,
  onChange,
}: {
  setting: ServerSetting;
  onClose: () => void;
  onChange: () => void;
}) {
  const { name, description, fallback, origin } = setting;
  const [value, setValue] = useState(setting.value ?? '');
  const save = async (saved: string | null) => {
    await call('PATCH /server/settings/{setting}', { params: { setting: name }, body: { value: saved } });
    onChange();
    onClose();
    showToast(t(saved === null ? 'setting.wasReset' : 'setting.saved'));
  };
  const submission = useSubmit(() => save(value));
  const reset = useSubmit(() => save(null));
  return (
    <FormDialog
      title={name}
      action={t('setting.save')}
      disabled={value === (setting.value ?? '')}
      submission={reset.problem === undefined ? submission : reset}
      onClose={onClose}
    >
      <p>
        <SettingDescription text={description} />
      </p>
      <ValueField
        setting={setting}
        value={value}
        error={valueError(setting, submission.problem)}
        onValue={setValue}
      />
      {origin === 'dashboard' && (
        <Button small busy={reset.busy} onClick={() => reset.submit()}>
          {t(fallback === undefined ? 'setting.reset' : 'setting.useFile')}
        </Button>
      )}
    </FormDialog>
  );
}

function ValueField({
  setting: { kind, words, isList, fallback },
  value,
  error,
  onValue,
}: {
  setting: ServerSetting;
  value: string;
  error: string | undefined;
  onValue: (value: string) => void;
}) {
  const hint = fallback === undefined ? t('setting.noDefault') : t('setting.default', { value: fallback });
  if (words === undefined) {
    return (
      <TextField
        label={t('settingList.value')}
        field="value"
        value={value}
        onValue={onValue}
        hint={error === undefined ? `${valuesText(kind)} ${hint}` : hint}
        error={error}
      />
    );
  }
  if (!isList) {
    const options = words.map(word => [word, word] as const);
    return (
      <SelectField
        label={t('settingList.value')}
        field="value"
        value={value}
        options={options}
        onValue={onValue}
        hint={hint}
      />
    );
  }
  const chosen = value.split(',').map(word => word.trim());
  return (
    <fieldset class="field">
      <legend>{t('settingList.value')}</legend>
      {words.map(word => (
        <CheckField
          key={word}
          label={word}
          checked={chosen.includes(word)}
          onValue={isChosen =>
            onValue(words.filter(one => (one === word ? isChosen : chosen.includes(one))).join(','))
          }
        />
      ))}
      <p class="hint">{hint}</p>
    </fieldset>
  );
}

/** Says which values a setting takes. The server names kinds in English. */
function valuesText(kind: string): string {
  const [, name, min = '', max = ''] = /^(integer|duration|size|days), (\S+) to ([^\s,]+)/.exec(kind) ?? [];
  if (name === undefined) return `${kind}.`;
  return name === 'integer'
    ? shellText('form.wholeNumber', { min: Number(min), max: Number(max) })
    : t(`setting.range.${name as 'duration' | 'size' | 'days'}`, { min, max });
}

/** Says in the reader's language why the server takes no such value. */
function valueError({ kind }: ServerSetting, problem: ApiProblem | undefined): string | undefined {
  if (problem?.code === 'invalid-attribute') return valuesText(kind);
  // The only contradiction of settings that can be changed here.
  return problem?.code === 'setting-contradicts-another' ? t('setting.minFree') : undefined;
}
