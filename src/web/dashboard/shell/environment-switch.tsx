import { useId } from 'preact/hooks';
import { chooseEnvironment, type Environment, environment, session } from '../state/session.ts';
import { t } from '../texts/shell.ts';
import { useLocation } from '../ui/hooks/use-location.ts';
import { Icon } from '../ui/icon.tsx';
import { listPathOf } from './list-path.ts';

export function EnvironmentSwitch() {
  const { path, route } = useLocation();
  const group = useId();
  const available = session.value?.environments ?? [];
  const choose = (next: Environment) => {
    chooseEnvironment(next);
    // The open resource belongs to the other environment, so its list is shown.
    const list = listPathOf(path);
    if (list !== path) route(list);
  };
  return (
    <fieldset class="environments">
      <legend class="for-readers">{t('environment.title')}</legend>
      {(['sandbox', 'production'] as const).map(name =>
        available.includes(name) ? (
          <label key={name} class={`environment ${name}`}>
            <input
              type="radio"
              name={group}
              value={name}
              checked={environment.value === name}
              data-leaves
              onChange={() => choose(name)}
            />
            <span>{t(`environment.name.${name}`)}</span>
          </label>
        ) : (
          <a
            key={name}
            class="environment"
            href="/dashboard/settings?part=organisation#upgrade"
            title={t('environment.upgrade')}
          >
            <Icon name="lock" size={14} />
            <span>{t(`environment.name.${name}`)}</span>
            <span class="for-readers">{t('environment.afterUpgrade')}</span>
          </a>
        ),
      )}
    </fieldset>
  );
}
