import { Checkbox } from '../web/fields-view.tsx'

/** Asks whether the volumes go too, where there are some. */
export const VolumesField = ({ volumes, hint }: { volumes: string[]; hint: string }) =>
  volumes.length > 0 && (
    <>
      <Checkbox
        name="volumes"
        lone
        label={
          volumes.length === 1
            ? 'Delete its volume too'
            : `Delete its ${volumes.length} volumes too`
        }
        hint={hint}
      />
      <ul class="names">
        {volumes.map((volume) => (
          <li>
            <code>{volume}</code>
          </li>
        ))}
      </ul>
    </>
  )
