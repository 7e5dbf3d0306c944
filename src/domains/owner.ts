import type { Holder } from '../addresses/store.ts'
import type { Environment } from '../environments/store.ts'
import type { Project } from '../projects/store.ts'
import type { Service } from '../services/store.ts'

export type DomainOwner =
  | { kind: 'environment'; environment: Environment; project: Project }
  | { kind: 'service'; service: Service }

export const holderIn = (of: DomainOwner): Holder =>
  of.kind === 'environment' ? { environmentId: of.environment.id } : { serviceId: of.service.id }

export const listPath = (of: DomainOwner) =>
  of.kind === 'environment'
    ? `/envs/${of.environment.id}/domains`
    : `/services/${of.service.id}/domains`

export const nameOf = (of: DomainOwner) =>
  of.kind === 'environment' ? `${of.project.name} ${of.environment.name}` : of.service.name
