// delete.tsx - deletes a model after a question, keeps its document, and puts it back on request.
import {useState} from 'preact/hooks';
import {deleteModel, getDocumentText, getModel, Problem, putModel, withWarnings} from '../api';
import {reloadModels} from '../models';
import {robotLink} from '../route';
import {Store, useStore} from '../store';
import {Button, Dialog, Notice} from '../ui';

interface Kept {
    name: string;
    text: string; // the document, with the warnings of the model's report
}

/** The models that this page has deleted, the last one first. */
export const deleted = new Store<Kept[]>([]);

export function DeleteDialog({name, onClose, onDeleted}: {name: string; onClose: () => void; onDeleted?: () => void}) {
    const [error, setError] = useState(''), [busy, setBusy] = useState(false);
    const remove = async () => {
        setBusy(true);
        try {
            const text = withWarnings(await getDocumentText(name), (await getModel(name)).report);
            await deleteModel(name);
            deleted.set([{name, text}, ...deleted.value.filter(k => k.name !== name)]);
        } catch (e) {
            if (!(e instanceof Problem && e.status === 404)) {
                setError((e as Error).message);
                setBusy(false);
                return;
            }
        }
        await reloadModels();
        onClose();
        onDeleted?.();
    };
    return (
        <Dialog title={`Delete ${name}?`} onClose={onClose}>
            <p>The model is removed from the server for all its clients. This page keeps its document until it is closed, and can put it back.</p>
            {error && <Notice kind="error">{error}</Notice>}
            <div class="actions"><Button label="Keep it" onClick={onClose} autofocus /><Button kind="danger" icon="trash" label="Delete" disabled={busy} onClick={() => void remove()} /></div>
        </Dialog>
    );
}

/** Offers to put back the model that was deleted last. */
export function UndoBar() {
    const [last] = useStore(deleted), [error, setError] = useState('');
    if (!last) return null;
    const drop = () => {
        setError('');
        deleted.set(deleted.value.slice(1));
    };
    const restore = async () => {
        try {
            await putModel(last.name, last.text, {replace: false, format: 'model document', base: 'fixed', mimic: 'independent'});
        } catch (e) {
            return setError(e instanceof Problem && e.status === 412 ? `the server has another model ${last.name} now` : (e as Error).message);
        }
        await reloadModels();
        drop();
        location.hash = robotLink(last.name);
    };
    return (
        <div class="undo-bar" role="status">
            <span><strong>{last.name}</strong> is deleted{error && `. It was not put back: ${error}`}.</span>
            <Button icon="undo" label="Put it back" onClick={() => void restore()} />
            <Button bare kind="quiet" icon="close" label="Forget it" onClick={drop} />
        </div>
    );
}
