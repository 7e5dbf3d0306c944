import type { Child } from 'hono/jsx'

/** Davit's mark: the small crane, and the boat it holds. */
export const Mark = () => (
  <svg
    class="mark"
    width="24"
    height="24"
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    stroke-width="2"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    <path d="M6 21V8.500A5.5 5.5 0 0 1 11.5 3H13a3.5 3.5 0 0 1 3.5 3.500V12" />
    <path d="M11 12.500h10.500c-.4 3-2.2 4.5-5.2 4.500S11.4 15.5 11 12.500Z" fill="currentColor" />
    <path d="M3 21h6" />
  </svg>
)

const icon =
  (drawing: Child, className = 'icon') =>
  () => (
    <svg
      class={className}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {drawing}
    </svg>
  )

export const CheckIcon = icon(<path d="m5 12.5 4.5 4.500L19 7.5" />)
export const CrossIcon = icon(<path d="M6 6l12 12M18 6 6 18" />)
export const ClockIcon = icon(
  <>
    <circle cx="12" cy="12" r="8.5" />
    <path d="M12 7.500V12l3 2" />
  </>,
)
/** Three quarters of a ring; it turns where motion is welcome. */
export const SpinnerIcon = icon(<path d="M20.5 12A8.5 8.5 0 1 1 12 3.5" />, 'icon spinner')
export const DashIcon = icon(<path d="M6 12h12" />)
export const SquareIcon = icon(<rect x="7" y="7" width="10" height="10" rx="1.5" />)
export const UpIcon = icon(<path d="M12 19V6M6 12l6-6 6 6" />)
export const DotIcon = icon(<circle cx="12" cy="12" r="5" fill="currentColor" stroke="none" />)
export const WarningIcon = icon(<path d="M12 4 2.5 20h19L12 4ZM12 10v4.500M12 17.300v.2" />)
export const ExternalIcon = icon(
  <path d="M14 4h6v6M20 4l-9 9M18 14v5a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V7a1 1 0 0 1 1-1h5" />,
)
export const LockIcon = icon(
  <>
    <rect x="5" y="11" width="14" height="9" rx="2" />
    <path d="M8 11V8a4 4 0 0 1 8 0v3" />
  </>,
)
