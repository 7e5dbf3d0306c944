import { nothingHidden } from '../logs/masks.ts'
import type { Masks } from '../logs/masks.ts'
import type { Found } from './find.ts'
import type { LogSource } from './log-read.ts'

/** The log of a container; the secrets of its app or service are hidden in it, whoever reads. */
export const sourceOf = ({ masks }: { masks: Masks }, { container, place }: Found): LogSource => ({
  id: container.id,
  mask: async () => (place.kind === 'own' ? masks.ofContainer(container) : nothingHidden),
})
