// form.js - the choice of an operation, its form, and the command line that results.
import { OPERATIONS, obstacle, runsOf } from './operations.js';
import { button, byId, element } from './elements.js';
import { commandLine } from './words.js';

/** Returns the control of a field. */
function controlOf(field, value) {
  const properties = { id: `field-${field.id}`, name: field.id, class: field.code ? 'code' : '' };
  const plain = { ...properties, placeholder: field.placeholder, spellcheck: 'false', autocomplete: 'off',
    autocapitalize: 'off' };
  switch (field.type) {
    case 'check': return element('input', { ...properties, type: 'checkbox', checked: Boolean(value) });
    case 'area': return element('textarea', { ...plain, rows: '5' }, value ?? '');
    case 'select': {
      const made = element('select', properties,
        ...field.options.map(([key, text]) => element('option', { value: key }, text)));
      if (value !== undefined) made.value = value;
      return made;
    }
    default: return element('input', { ...plain, type: 'text', value: value ?? '' });
  }
}

function rowOf(field, value) {
  const control = controlOf(field, value), label = element('label', { for: control.id }, field.label);
  const hint = field.hint && element('p', { class: 'hint', id: `${control.id}-hint` }, field.hint);
  if (hint) control.setAttribute('aria-describedby', hint.id);
  const wide = field.type === 'area' || field.id === 'line' || field.id === 'expr';
  return element('div', { class: `field ${field.type} ${wide ? 'wide' : ''}` }, ...field.type === 'check' ? [control, label]
    : [label, control], hint);
}

export class Form {
  constructor({ inputs, start }) {
    this.inputs = inputs; // returns { selected, sources }
    this.start = start;
    this.kept = {}; // values of the forms by operation
    for (const operation of OPERATIONS) {
      const radio = element('input', { type: 'radio', name: 'operation', value: operation.id,
        onchange: () => this.choose(operation.id) });
      byId('operations').append(element('label', {}, radio, element('span', {}, operation.title)));
    }
    byId('form').onsubmit = event => { event.preventDefault(); this.submit(); };
    byId('form').oninput = () => this.update();
    this.choose('convert');
  }

  choose(id) {
    this.operation = OPERATIONS.find(operation => operation.id === id);
    document.querySelector(`#operations input[value="${id}"]`).checked = true;
    this.show();
  }

  /** Returns the fields of the operation; fields for two inputs list the traces. */
  fields() {
    if (this.operation.inputs !== 'two') return this.operation.fields;
    const { selected, sources } = this.inputs(), names = [...new Set([...selected, ...sources])].map(name => [name, name]);
    return ['before', 'after'].map((id, i) =>
      ({ id, label: i ? 'After' : 'Before', type: 'select', options: names, value: names[i]?.[0] }))
      .concat(this.operation.fields);
  }

  show() {
    const { title, about, id } = this.operation, kept = this.kept[id] ?? {}, fields = this.fields();
    const rows = more => fields.filter(field => Boolean(field.more) === more).map(field =>
      rowOf(field, kept[field.id] ?? field.value));
    const more = rows(true);
    byId('form').replaceChildren(element('p', { class: 'about' }, about), element('div', { class: 'fields' }, ...rows(false)),
      ...more.length ? [element('details', { open: this.open === id }, element('summary', {}, 'More options'),
        element('div', { class: 'fields' }, ...more))] : [],
      element('div', { class: 'command' }, element('pre',
        { id: 'line', tabindex: '0', role: 'group', 'aria-label': 'Command line' }),
        navigator.clipboard && button('Copy', event => this.copy(event.target), { 'aria-label': 'Copy the command line' })),
      element('p', { class: 'buttons' }, element('button', { id: 'run', class: 'primary' }, title === 'Command' ? 'Run'
        : title),
        element('span', { id: 'obstacle', class: 'hint' })));
    byId('form').querySelector('details')?.addEventListener('toggle', event => { this.open = event.target.open ? id : ''; });
    this.update();
  }

  values() {
    const values = {};
    for (const control of byId('form').elements)
      if (control.name) values[control.name] = control.type === 'checkbox' ? control.checked : control.value;
    return values;
  }

  /** Shows the command line, or what is missing. */
  update() {
    const values = this.kept[this.operation.id] = this.values(), inputs = this.inputs();
    let reason = this.busy ? 'Another operation is running' : obstacle(this.operation, values, inputs);
    this.runs = [];
    try {
      if (!reason || this.busy) this.runs = runsOf(this.operation, values, inputs);
    } catch (error) {
      reason = error.message;
    }
    byId('line').textContent = this.runs.map(commandLine).join('\n')
      || `tracekit ${this.operation.inputs === 'none' ? '' : this.operation.id} …`;
    byId('run').disabled = Boolean(reason);
    byId('obstacle').textContent = reason;
  }

  /** Called when the traces or their selection changed. */
  refresh() {
    if (this.operation.inputs === 'two') this.show();
    else this.update();
  }

  setBusy(busy) {
    this.busy = busy;
    this.update();
  }

  async copy(target) {
    await navigator.clipboard.writeText(byId('line').textContent).then(() => { target.textContent = 'Copied'; }, () => {});
    setTimeout(() => { target.textContent = 'Copy'; }, 1500);
  }

  submit() {
    this.update();
    if (!byId('run').disabled) this.start(this.operation, this.runs);
  }
}
