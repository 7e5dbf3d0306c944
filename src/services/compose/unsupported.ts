/** What to do instead of a key that Davit does not take. */
const advice: Record<string, string> = {
  build: 'Davit pulls images: build it in a project, and name its image here.',
  cgroup_parent: 'Davit sets the limits itself.',
  extends: 'Write the service out.',
  external_links: 'A service reaches only those of its own file.',
  include: 'Write the services into this file.',
  links: 'Services reach each other by their names.',
  mem_reservation: 'Write deploy.resources.reservations.memory.',
  memswap_limit: 'Davit allows no swap beyond the memory.',
  profiles: 'Remove the services that are not to run.',
  pull_policy: 'Davit pulls what is missing.',
  scale: 'One container runs for each service.',
  secrets: 'Use variables, which are kept sealed.',
  security_opt: 'Containers never gain privileges, and keep the engine’s own profiles.',
  stdin_open: 'Nothing is attached to a service. Remove it.',
  tty: 'A service has no terminal. Remove it.',
  volumes_from: 'Mount the same named volume in both.',
}

export const adviceOn = (key: string) => advice[key] ?? 'Remove it.'
