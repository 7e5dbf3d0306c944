import { Logo } from '../web/logo.tsx'
import { ownFile } from './own-file.ts'
import type { Service } from './store.ts'

/** What runs in an instance, by its template, or by the first image of a file of the user's own. */
export const ServiceLogo = ({
  service: { name, template },
  images = [],
}: {
  service: Pick<Service, 'name' | 'template'>
  images?: string[] | undefined
}) => <Logo of={template === ownFile ? (images[0] ?? name) : template} name={name} />
