import { Live } from './live.tsx'
import { assetData } from './static.ts'
import type { Look } from './status-badge.tsx'

/** The title of the browser's tab, and an icon with a dot in the colour of the state. */
export function tabOf({ title, state }: { title: string; state?: Look | undefined }) {
  const named = title === 'Davit' ? title : `${plainOrder(title)} · Davit`
  return {
    title: state ? `${state.word} · ${named}` : named,
    icon: state ? iconOf(state.tone) : assetData('icon.svg'),
  }
}

/** live.js updates the tab from it when the state has changed. */
export const TabState = ({ title, icon }: ReturnType<typeof tabOf>) => (
  <Live id="tab" hidden data-title={title} data-icon={icon} />
)

/** A title can't isolate a name, so characters that change the text direction are removed. */
const plainOrder = (title: string) => title.replace(/[\u202A-\u202E\u2066-\u2069]/g, '')

/** Visible on a light and on a dark tab. */
const colours: Record<Look['tone'], string> = {
  good: '#2f9e44',
  active: '#1c7ed6',
  bad: '#e03131',
  quiet: '#868e96',
}

const iconOf = (tone: Look['tone']) => {
  const dot = `<circle cx="18" cy="6" r="5.5" fill="${colours[tone]}" stroke="none" />`
  return assetData('icon.svg').replace(/(?=%3C%2Fsvg%3E)/, encodeURIComponent(dot))
}
