import { environmentPath } from '../environments/paths.ts'
import type { Environment } from '../environments/store.ts'
import type { Project } from '../projects/store.ts'
import type { Deployment } from './store.ts'

type ActionTarget = 'registries' | 'project' | 'environment'

/** By error code: the page on which a failure can be fixed that neither a commit nor a retry fixes. */
const places: Record<string, ActionTarget> = {
  ...fixedIn('registries', 'base_image_not_found image_not_found registry_unauthorized'),
  ...fixedIn(
    'project',
    'no_dockerfile not_recognized manifest_invalid manifest_too_large no_context context_too_large path_outside authentication repository_not_found ' +
      'repository_refused repository_too_large host_key_changed host_refused host_unresolved ' +
      'compose_missing compose_service_unknown redirected unknown_branch key_missing key_unreadable token_unreadable submodule_refused',
  ),
  ...fixedIn(
    'environment',
    'exited no_answer no_port no_command unhealthy timeout port_in_use port_shared address_in_use ' +
      'limit_too_high too_little_memory too_many_cpus unknown_user values_unreadable',
  ),
}

function fixedIn(place: ActionTarget, codes: string) {
  return Object.fromEntries(codes.split(' ').map((code) => [code, place]))
}

/** For a release command or a start these are fixed in the settings too; for a build they aren't. */
const ofContainers = ['command_not_found', 'out_of_memory', 'not_executable']

/** Suggests the one action that fixes a failure; null when that is to deploy again. */
export function nextAction(
  { errorCode, errorStep }: Pick<Deployment, 'errorCode' | 'errorStep'>,
  {
    project,
    environment,
  }: { project: Pick<Project, 'id'>; environment: Pick<Environment, 'id' | 'projectId'> },
): { name: string; href: string } | null {
  const isOfContainer =
    errorStep === 'releasing' ||
    (errorStep === 'deploying' && ofContainers.includes(errorCode ?? ''))
  const place = places[errorCode ?? ''] ?? (isOfContainer ? 'environment' : null)
  if (place === 'registries') return { name: 'Add registry', href: '/settings/registries' }
  if (place === 'project')
    return { name: 'Open project settings', href: `/projects/${project.id}/settings` }
  if (place === 'environment')
    return { name: 'Edit environment', href: `${environmentPath(environment)}/edit` }
  return null
}
