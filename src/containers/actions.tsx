import type { ContainerSummary } from '../docker/index.ts'
import { PostForm } from '../web/form.tsx'
import type { Place } from './find.ts'
import { isUp } from '../runtime/workload.ts'
import { containerPath } from './row.ts'

type Props = {
  container: Pick<ContainerSummary, 'id' | 'name' | 'state'>
  place: Place
  /** What the answer takes the place of. */
  target: string
}

/** What can be done to a container. One that is not Davit's asks whether that is meant. */
export const ContainerActions = (props: Props) => {
  const { state } = props.container
  if (state === 'removing' || state === 'dead') return null
  if (!isUp(props.container)) return <Action {...props} verb="restart" label="Start" />
  return (
    <>
      <Action {...props} verb="restart" label="Restart" />
      <Action {...props} verb="stop" label="Stop" />
    </>
  )
}

const Action = ({
  container,
  place,
  target,
  verb,
  label,
}: Props & { verb: 'stop' | 'restart'; label: string }) => {
  const path = `${containerPath(container)}/${verb}`
  const button = {
    class: 'btn',
    'data-variant': 'outline',
    'data-size': 'sm',
    'aria-label': `${label} ${container.name}`,
  }
  const question = {
    text: `${container.name} is not Davit’s: something else on this machine created it and may rely on it. ${label} it anyway?`,
    answer: `${label} container`,
  }
  return (
    <PostForm
      action={path}
      live
      hx-target={target}
      hx-swap="outerMorph"
      hx-disable="find button"
      question={place.kind === 'other' ? question : undefined}
    >
      <button type="submit" {...button}>
        {label}
      </button>
    </PostForm>
  )
}
