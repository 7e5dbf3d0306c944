import { ButtonLink } from '../web/form.tsx'
import { environmentPath } from './paths.ts'
import type { Environment } from './store.ts'

type EnvironmentLinksProps = {
  environment: Environment
  variant: 'outline' | 'ghost'
  variables?: number
}

export const EnvironmentLinks = ({ environment, variant, variables }: EnvironmentLinksProps) => (
  <>
    <ButtonLink
      {...{ variant, small: true, href: `${environmentPath(environment)}/output` }}
      aria-label={`Logs of ${environment.name}`}
    >
      Logs
    </ButtonLink>
    <ButtonLink
      {...{ variant, small: true, href: `/envs/${environment.id}/variables` }}
      aria-label={`Variables ${variables ?? ''} of ${environment.name}`.replace('  ', ' ')}
    >
      Variables {variables !== undefined && <span class="count">{variables}</span>}
    </ButtonLink>
    <ButtonLink
      {...{ variant, small: true, href: `/envs/${environment.id}/runs` }}
      aria-label={`Runs of ${environment.name}`}
    >
      Runs
    </ButtonLink>
  </>
)
