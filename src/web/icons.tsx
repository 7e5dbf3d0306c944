import { raw } from 'hono/html'
import { iconShapes } from './icon-shapes.ts'

/** Davit's logo: the small crane, and the boat it holds. */
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

export type IconName = keyof typeof iconShapes

/** Decorative, beside text or inside a button with a name: no information depends on it. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg
    class={name === 'loader-circle' ? 'icon spinner' : 'icon'}
    viewBox="0 0 24 24"
    aria-hidden="true"
  >
    {raw(iconShapes[name])}
  </svg>
)
