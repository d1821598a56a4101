import type { ComponentChildren, Ref } from 'preact';
import { Icon, type IconName } from './icon.tsx';

type ButtonKind = 'primary' | 'plain' | 'quiet' | 'danger';

interface ButtonProps {
  readonly kind?: ButtonKind;
  readonly icon?: IconName;
  readonly small?: boolean;
  readonly busy?: boolean;
  readonly disabled?: boolean;
  readonly pressed?: boolean;
  readonly type?: 'button' | 'submit';
  readonly href?: string | undefined;
  readonly target?: '_blank';
  readonly onClick?: (event: MouseEvent) => void;
  readonly label?: string;
  readonly expanded?: boolean;
  readonly controls?: string | undefined;
  readonly buttonRef?: Ref<HTMLButtonElement>;
  readonly children?: ComponentChildren;
}

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
      // Stays focusable, so that the focus is not lost.
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
  readonly label: string;
  readonly danger?: boolean;
  readonly pressed?: boolean;
  readonly expanded?: boolean;
  readonly disabled?: boolean;
  readonly buttonRef?: Ref<HTMLButtonElement>;
  readonly onClick: (event: MouseEvent) => void;
}

export function IconButton({
  icon,
  label,
  danger = false,
  pressed,
  expanded,
  disabled = false,
  buttonRef,
  onClick,
}: IconButtonProps) {
  return (
    <button
      type="button"
      class={`icon-button${danger ? ' danger' : ''}`}
      title={label}
      aria-label={label}
      aria-pressed={pressed}
      aria-expanded={expanded}
      aria-disabled={disabled}
      ref={buttonRef ?? null}
      onClick={event => {
        if (!disabled) onClick(event);
      }}
    >
      <Icon name={icon} />
    </button>
  );
}
