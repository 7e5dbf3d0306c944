import type { Child } from 'hono/jsx'

/** A share of use that is shown as high. */
const high = 0.9

/** How much of something is used, in a bar and in words. */
export const Used = ({
  share,
  label,
  children,
}: {
  share: number
  label: string
  children: Child
}) => (
  <>
    <meter min={0} max={1} high={high} value={Math.min(1, share)} aria-label={label} />
    <span>{children}</span>
  </>
)
