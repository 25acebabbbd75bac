//! Requests about the key-value table.

use super::{Answer, NamesrvProcessor, success};
use crate::remoting::headers::{
    GetKvConfigResponseHeader, KvConfigRequestHeader, NamespaceRequestHeader, PutKvConfigRequestHeader,
};
use crate::remoting::protocol::KvTable;
use crate::remoting::{RemotingCommand, response_code};

impl NamesrvProcessor {
    pub(super) fn put_kv_config(&self, request: &RemotingCommand) -> Answer {
        let header: PutKvConfigRequestHeader = request.decode_header()?;
        self.kv_config.put(&header.namespace, &header.key, &header.value)?;
        Ok(success(request))
    }

    pub(super) fn get_kv_config(&self, request: &RemotingCommand) -> Answer {
        let header: KvConfigRequestHeader = request.decode_header()?;
        let Some(value) = self.kv_config.get(&header.namespace, &header.key) else {
            let remark = format!("No config item, Namespace: {} Key: {}", header.namespace, header.key);
            return Ok(not_found(request, remark));
        };
        Ok(success(request).with_header(&GetKvConfigResponseHeader { value: Some(value) }))
    }

    pub(super) fn delete_kv_config(&self, request: &RemotingCommand) -> Answer {
        let header: KvConfigRequestHeader = request.decode_header()?;
        self.kv_config.delete(&header.namespace, &header.key)?;
        Ok(success(request))
    }

    /// A request without the field is answered like one for an unknown namespace, as in Java.
    pub(super) fn get_kv_list(&self, request: &RemotingCommand) -> RemotingCommand {
        let namespace = request.decode_header::<NamespaceRequestHeader>().map(|header| header.namespace);
        let table = namespace.as_ref().ok().and_then(|namespace| self.kv_config.namespace(namespace));
        let written = table.and_then(|table| success(request).with_json_body(&KvTable { table }).ok());
        written.unwrap_or_else(|| {
            let namespace = namespace.unwrap_or_else(|_| "null".to_owned());
            not_found(request, format!("No config item, Namespace: {namespace}"))
        })
    }
}

fn not_found(request: &RemotingCommand, remark: String) -> RemotingCommand {
    RemotingCommand::response_to(request, response_code::QUERY_NOT_FOUND).with_remark(remark)
}
