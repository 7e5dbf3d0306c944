import { Logo } from '../web/logo.tsx'
import { ownFile } from './own-file.ts'
import type { Service } from './store.ts'

/** The logo of its template, or of the first image of a user's own file. */
export const ServiceLogo = ({
  service: { name, template },
  images = [],
}: {
  service: Pick<Service, 'name' | 'template'>
  images?: string[] | undefined
}) => <Logo of={template === ownFile ? (images[0] ?? name) : template} name={name} />
