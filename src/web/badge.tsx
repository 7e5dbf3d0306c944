import type { CheckIcon } from './icons.tsx'

/** A state by word, shape and colour, so that none of them is needed alone. */
export type Look = {
  word: string
  tone: 'quiet' | 'active' | 'good' | 'bad'
  icon: typeof CheckIcon
}

export const Badge = ({ word, tone, icon: Icon }: Look) => (
  <span class="status" data-tone={tone}>
    <Icon />
    {word}
  </span>
)
