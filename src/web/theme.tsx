import type { Context } from 'hono'
import { cookieValues } from './cookies.ts'
import { PostForm } from './form.tsx'
import { Icon } from './icons.tsx'
import type { IconName } from './icons.tsx'

/** `system` follows the browser's preference. */
export const themes = ['light', 'dark', 'system'] as const
export type Theme = (typeof themes)[number]

/** assets/theme.js writes it too. */
export const themeCookie = 'svc_theme'

/** The choice of this browser. */
export function themeOf(c: Context): Theme {
  const chosen = cookieValues(c, themeCookie).at(-1)
  return themes.find((theme) => theme === chosen) ?? 'system'
}

/** Switches the theme; theme.js does it without a new page. */
export const ThemeChoice = ({ theme }: { theme: Theme }) => (
  <PostForm class="theme-choice" action="/theme">
    {themes.map((one) => (
      <button
        type="submit"
        name="theme"
        value={one}
        aria-pressed={one === theme ? 'true' : 'false'}
        aria-label={`${words[one].name} theme`}
        title={words[one].name}
      >
        <Icon name={words[one].icon} />
      </button>
    ))}
  </PostForm>
)

const words: Record<Theme, { name: string; icon: IconName }> = {
  light: { name: 'Light', icon: 'sun' },
  dark: { name: 'Dark', icon: 'moon' },
  system: { name: 'System', icon: 'monitor' },
}
