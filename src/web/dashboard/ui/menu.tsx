import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { t } from '../texts/shell.ts';
import { usePopover } from './hooks/use-popover.ts';
import { Icon, type IconName } from './icon.tsx';

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName;
  readonly danger?: boolean;
  readonly leaves?: boolean;
  /** True for the chosen item when the menu offers one choice among several. */
  readonly isChosen?: boolean;
  readonly onClick: () => void;
}

const itemSelector = '[role^=menuitem]';

export function Menu({
  label,
  icon,
  isLabelled = false,
  items,
  children,
}: {
  label: string;
  /** Shown in place of three dots. */
  icon?: IconName;
  /** Looks like a button, with the label. */
  isLabelled?: boolean;
  items: readonly MenuItem[];
  children?: ComponentChildren;
}) {
  const id = useId();
  const { isOpen, toggle, close, root, button, panel } = usePopover<HTMLDivElement>(itemSelector, {
    side: 'end',
    moves: false,
  });
  const isIcon = !isLabelled && children === undefined;
  const onKeyDown = (event: KeyboardEvent) => {
    const entries = [...(root.current?.querySelectorAll<HTMLElement>(itemSelector) ?? [])];
    const at = entries.indexOf(document.activeElement as HTMLElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: entries.length - 1 }[event.key];
    if (event.key === 'Escape') close();
    else if (next !== undefined) entries.at(next % entries.length)?.focus();
    else return;
    event.preventDefault();
  };
  return (
    <div class="menu" ref={root}>
      <button
        ref={button}
        type="button"
        class={isLabelled ? 'button' : children === undefined ? 'icon-button' : 'menu-button'}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-label={isIcon ? label : isLabelled ? t('menu.chooseHow', { label }) : undefined}
        title={isIcon ? label : undefined}
        onClick={toggle}
      >
        {isIcon ? (
          <Icon name={icon ?? 'more'} />
        ) : isLabelled ? (
          <>
            {icon !== undefined && <Icon name={icon} size={18} />}
            <span>{label}</span>
          </>
        ) : (
          <>
            <span class="for-readers">{label}</span>
            {children}
          </>
        )}
      </button>
      {isOpen && (
        <div
          ref={panel}
          class="menu-list"
          popover="manual"
          role="menu"
          id={id}
          aria-label={label}
          tabIndex={-1}
          onKeyDown={onKeyDown}
        >
          {items.map(({ label, icon, danger = false, leaves = false, isChosen, onClick }, index) => (
            <button
              key={`${index} ${label}`}
              type="button"
              {...(isChosen === undefined
                ? { role: 'menuitem' }
                : { role: 'menuitemradio', 'aria-checked': isChosen })}
              tabIndex={-1}
              class={danger ? 'danger' : undefined}
              data-leaves={leaves ? '' : undefined}
              onClick={() => {
                close();
                onClick();
              }}
            >
              {icon !== undefined && <Icon name={icon} size={18} />}
              <span class="menu-label">{label}</span>
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
