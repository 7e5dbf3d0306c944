import type { Field } from './field.ts'

/** What to do instead of a key that Davit does not take. */
const advice: Record<string, string> = {
  build: 'Davit pulls images: build it in a project, and name its image here.',
  cgroup_parent: 'Davit sets the limits itself.',
  extends: 'Write the service out.',
  external_links: 'A service reaches only those of its own file.',
  include: 'Write the services into this file.',
  mem_reservation: 'Write deploy.resources.reservations.memory.',
  memswap_limit: 'Davit allows no swap beyond the memory.',
}

export const adviceOn = (key: string) => advice[key] ?? 'Remove it.'

/** What a service does without. */
const ignored = {
  dns: 'Docker looks names up.',
  pull_policy: 'Davit pulls what is missing.',
  stdin_open: 'Nothing is attached to a service.',
  tty: 'A service has no terminal.',
}

/** Compose too builds only where there is no image to be had. */
export const ignoredOf = (service: Field) =>
  service.get('image').absent ? ignored : { ...ignored, build: 'Davit takes its image.' }

/** Where a cluster would run it, and how it would change it there. */
export const ignoredOfDeploy = {
  endpoint_mode: 'There is one engine.',
  labels: 'They are a cluster’s.',
  placement: 'There is one engine.',
  rollback_config: 'Davit goes back by itself.',
  update_config: 'Davit stops the old containers first.',
}
