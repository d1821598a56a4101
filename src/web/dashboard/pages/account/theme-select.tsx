import { chooseTheme, type Theme, theme } from '../../state/theme.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';

const themes: readonly (readonly [Theme, string, IconName])[] = [
  ['system', 'System', 'screen'],
  ['light', 'Light', 'sun'],
  ['dark', 'Dark', 'moon'],
];

export function ThemeSelect() {
  return (
    <fieldset class="choices">
      <legend class="for-readers">Theme</legend>
      {themes.map(([name, words, icon]) => (
        <label key={name} class="choice">
          <input
            type="radio"
            name="theme"
            value={name}
            checked={theme.value === name}
            onChange={() => chooseTheme(name)}
          />
          <Icon name={icon} />
          <span>{words}</span>
        </label>
      ))}
      <p class="hint">Saved in this browser.</p>
    </fieldset>
  );
}
