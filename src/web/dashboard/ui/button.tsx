import type { ComponentChildren, Ref } from 'preact';
import { Icon, type IconName } from './icon.tsx';

/** What a button is for: `primary` is the one thing to do on a page, `danger` destroys something. */
export type ButtonKind = 'primary' | 'plain' | 'quiet' | 'danger';

interface ButtonProps {
  readonly kind?: ButtonKind;
  readonly icon?: IconName;
  readonly small?: boolean;
  /** Its work is under way: it shows that, and does nothing more. */
  readonly busy?: boolean;
  readonly disabled?: boolean;
  /** Of a button that chooses: whether its thing is chosen. */
  readonly pressed?: boolean;
  readonly type?: 'button' | 'submit';
  /** Makes it a link that looks like a button. */
  readonly href?: string | undefined;
  readonly target?: '_blank';
  readonly onClick?: (event: MouseEvent) => void;
  /** Name of what it does, where its words do not say it. */
  readonly label?: string;
  /** Whether what it shows and hides is shown. */
  readonly expanded?: boolean;
  /** Id of what it shows and hides, while that is there. */
  readonly controls?: string | undefined;
  readonly buttonRef?: Ref<HTMLButtonElement>;
  readonly children?: ComponentChildren;
}

/** A button with words on it. */
export function Button(props: ButtonProps) {
  const {
    kind = 'plain',
    icon,
    small = false,
    busy = false,
    disabled = false,
    children,
    href,
    label,
  } = props;
  const look = `button ${kind}${small ? ' small' : ''}`;
  const content = (
    <>
      {icon !== undefined && <Icon name={icon} size={small ? 16 : 18} />}
      <span>{children}</span>
    </>
  );
  if (href !== undefined) {
    const outside = props.target === '_blank' ? { target: '_blank', rel: 'noreferrer' } : {};
    return (
      <a class={look} href={href} aria-label={label} onClick={props.onClick} {...outside}>
        {content}
      </a>
    );
  }
  return (
    <button
      class={look}
      type={props.type ?? 'button'}
      aria-label={label}
      aria-pressed={props.pressed}
      // Kept in the order of the keyboard: focus is not lost while the work goes on.
      aria-disabled={busy || disabled}
      aria-busy={busy}
      aria-expanded={props.expanded}
      aria-controls={props.controls}
      ref={props.buttonRef ?? null}
      onClick={event => {
        if (busy || disabled) event.preventDefault();
        else props.onClick?.(event);
      }}
    >
      {content}
    </button>
  );
}

interface IconButtonProps {
  readonly icon: IconName;
  /** What it does: its name for screen readers, and its tip. */
  readonly label: string;
  readonly danger?: boolean;
  readonly pressed?: boolean;
  readonly disabled?: boolean;
  readonly onClick: (event: MouseEvent) => void;
}

/** A button that is only a pictogram, where there is no room for words. */
export function IconButton({
  icon,
  label,
  danger = false,
  pressed,
  disabled = false,
  onClick,
}: IconButtonProps) {
  return (
    <button
      type="button"
      class={`icon-button${danger ? ' danger' : ''}`}
      title={label}
      aria-label={label}
      aria-pressed={pressed}
      aria-disabled={disabled}
      onClick={event => {
        if (!disabled) onClick(event);
      }}
    >
      <Icon name={icon} />
    </button>
  );
}
